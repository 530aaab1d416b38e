import type { FastifyBaseLogger, FastifyReply } from 'fastify';
import type { JWTVerifyGetKey } from 'jose';
import type { Configuration } from 'openid-client';
import type { AccountPage } from '#contract/account.ts';
import type { DeskPage } from '#contract/desk.ts';
import type { Page } from '#contract/page.ts';
import type { Config } from './config/config.ts';
import type { Keys } from './crypto/keys.ts';
import type { Database } from './database/database.ts';
import type { Mail, WordedMail } from './people/mail-kinds.ts';

/** A transport for emails: an SMTP server or a folder. */
export type MailTransport = {
  /** Sends one email. Throws MailNotSent. */
  send: (mail: Pick<Mail, 'id' | 'recipient' | 'queuedAt'>, words: WordedMail) => Promise<void>;
  close: () => void;
};

/** An email was not accepted: the server is down for all emails, or refused this one. `message` is for the operator. */
export class MailNotSent extends Error {
  readonly why: 'away' | 'refused';
  constructor(why: 'away' | 'refused', message: string) {
    super(message);
    this.why = why;
  }
}

/** Counts something, by its labels, which have few values, never a person's. */
export type Counter<Label extends string> = { inc: (labels: Record<Label, string>) => void };

/** The metrics for the operator's monitoring, in the Prometheus text format. */
export type Metrics = {
  text: () => Promise<string>;
  contentType: string;
  requests: { observe: (labels: Record<'route' | 'status', string>, seconds: number) => void };
  /** By the last proof, and what came of it. */
  signIns: Counter<'method' | 'outcome'>;
  mailsGivenUp: Counter<'kind'>;
  /** By connection: started, signed in, or refused with its reason. */
  singleSignOn: Counter<'connection' | 'outcome'>;
};

/** An OpenID provider as it was read for a connection: the library's client, and the keys of its logout tokens. */
export type OidcProvider = { client: Configuration; keys: JWTVerifyGetKey & { jwks: () => JwkSet | undefined } };

type JwkSet = { keys: Record<string, unknown>[] };

/** The providers that a process has read within the last minutes, by the id of the connection. */
type ProviderMemory = Map<string, { version: number; until: Date; provider: Promise<OidcProvider> }>;

/** The dependencies of rules and routes: nothing else reaches them from outside. */
export type Deps = {
  config: Config;
  sql: Database;
  pages: Pages;
  log: FastifyBaseLogger;
  /** The time, passed in so that tests can control it. */
  now: () => Date;
  keys: Keys;
  mails: MailTransport;
  metrics: Metrics;
  providers: ProviderMemory;
  /** Whether the database was down when this process's workers last looked, a second ago at most (operations/workers.ts). */
  outage: { isDatabaseAway: boolean };
  wake: Wake;
};

/** What the workers themselves need, before they can be woken. */
export type DepsWithoutWake = Omit<Deps, 'wake'>;

export type Wake = { resetRequests: () => void; mails: () => void };

/** Sends pages: rendered per request, or from memory if the page is the same for everybody. */
export type Pages = {
  /** `more`: the page's own data, in addition to that of every page. */
  send: (reply: FastifyReply, status: number, more?: Partial<Page>) => Promise<FastifyReply>;
  /** Sends the account page, which loads a script for passkeys only. */
  sendAccount: (reply: FastifyReply, status: number, account: AccountPage) => Promise<FastifyReply>;
  sendDesk: (reply: FastifyReply, status: number, desk: DeskPage) => Promise<FastifyReply>;
};
