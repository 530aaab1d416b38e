import type { FastifyBaseLogger } from 'fastify';
import type { Config } from './config.ts';
import type { Pages } from './http/pages.ts';
import type { Database } from './storage/connect.ts';

/** What rules and routes are given: nothing else reaches them from outside. */
export type Deps = {
  config: Config;
  sql: Database;
  pages: Pages;
  log: FastifyBaseLogger;
  /** The time, passed in so that tests can turn the clock. */
  now: () => Date;
  /** Derived keys, one per purpose. */
  keys: Keys;
};

export type Keys = {
  /** For the digest of the last guess, by which the same wrong password twice counts once. */
  guess: Buffer;
};
