import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { Page } from '#contract/page.ts';
import type { Config } from './config.ts';
import type { Metrics } from './http/metrics.ts';
import type { MailTransport } from './mail/transport.ts';
import type { ProviderMemory } from './single-sign-on/oidc/provider-memory.ts';
import type { Database } from './storage/database.ts';

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
  mails: MailTransport;
  metrics: Metrics;
  /** What this process remembers of identity providers, and how it asks them. */
  providers: ProviderMemory;
  /** Says to the workers of this process that something waits in the database. */
  wake: Wake;
};

export type Wake = { resetRequests: () => void; mails: () => void };

/** Sends pages: rendered per request, or from memory where the page is the same for everybody. */
export type Pages = {
  send: (
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    /** What the page holds besides that which every page does. */
    more?: Partial<Page>,
  ) => Promise<FastifyReply>;
};

export type Keys = {
  /** For the digest of the last guess, by which the same wrong password twice counts once. */
  guess: Buffer;
  /** For the digests of codes that are too short for a plain hash: the first makes them, each is tried. */
  code: Buffer[];
  /** For what must be read again: the first seals, each opens. */
  seal: Buffer[];
};
