import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { AccountPage } from '#contract/account-page.ts';
import type { Page } from '#contract/page.ts';
import type { Config } from '../config/config.ts';
import type { Keys } from '../secrets/keys.ts';
import type { Database } from '../storage/database.ts';
import type { MailTransport } from './mail-transport.ts';
import type { Metrics } from './metrics.ts';
import type { ProviderMemory } from './provider-memory.ts';

/** The dependencies of rules and routes: nothing else reaches them from outside. */
export type Deps = {
  config: Config;
  sql: Database;
  pages: Pages;
  log: FastifyBaseLogger;
  /** The time, passed in so that tests can control it. */
  now: () => Date;
  /** Derived keys, one per purpose. */
  keys: Keys;
  mails: MailTransport;
  metrics: Metrics;
  /** What this process remembers of OpenID providers. */
  providers: ProviderMemory;
  /** Whether the database was down when this process's workers last looked, a second ago at most (upkeep/workers.ts). */
  outage: { isDatabaseAway: boolean };
  /** Tells this process's workers that work is queued in the database. */
  wake: Wake;
};

/** What the workers themselves need, before they can be woken. */
export type DepsWithoutWake = Omit<Deps, 'wake'>;

export type Wake = { resetRequests: () => void; mails: () => void };

/** Sends pages: rendered per request, or from memory if the page is the same for everybody. */
export type Pages = {
  send: (
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    /** The page's own data, in addition to that of every page. */
    more?: Partial<Page>,
  ) => Promise<FastifyReply>;
  /** Sends the account page, which loads no script. */
  sendAccount: (
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    account: AccountPage,
  ) => Promise<FastifyReply>;
};
