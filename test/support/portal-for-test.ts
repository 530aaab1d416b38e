import type { FastifyInstance } from 'fastify';
import type { InjectOptions, Response } from 'light-my-request';
import { factorResetQueue } from '#server/accounts/reset-two-factor.ts';
import { type AppTimeouts, buildApp } from '#server/app.ts';
import type { By } from '#server/audit/audit-events.ts';
import { type Config, readConfig } from '#server/config/config.ts';
import { hashPassword } from '#server/crypto/password-hash.ts';
import type { Database } from '#server/database/database.ts';
import type { Deps, MailTransport } from '#server/deps.ts';
import { loadBuiltPages } from '#server/http/built-pages.ts';
import { createPages } from '#server/http/pages.ts';
import { createLog } from '#server/http/request-log.ts';
import { jobsOf } from '#server/jobs/job.ts';
import { createMetrics } from '#server/operations/metrics.ts';
import { mailQueue } from '#server/operations/workers.ts';
import type { WordedMail } from '#server/people/mail-kinds.ts';
import { resetQueue } from '#server/sign-in/forgotten.ts';
import { type DatabaseForTest, databaseForTest } from './database-for-test.ts';

/** A portal on its own copy of a migrated database, with a clock and logs that tests control. */
export type PortalForTest = {
  /** The database, where other instances may join. */
  database: DatabaseForTest;
  sql: Database;
  deps: Deps;
  app: FastifyInstance;
  /** Sends a request as a browser on our own page would, from 198.51.100.7 by default. */
  send: (request: TestRequest) => Promise<Response>;
  /** Posts the sign-in form. */
  signIn: (username: string, password: string, more?: Partial<TestRequest>) => Promise<Response>;
  /** Who does what a command does, and when. */
  by: () => By;
  /** Moves the clock, in milliseconds. */
  wait: (time: number) => void;
  /** Every log line so far. */
  logs: () => string;
  /** Does all queued background work. */
  workOff: () => Promise<void>;
  /** Every email sent so far. */
  mails: SentMail[];
  /** The outcome of the next emails: by default they are sent. */
  onSend: (send: MailTransport['send']) => void;
  close: () => Promise<void>;
};

export type TestRequest = {
  method?: 'GET' | 'POST' | 'HEAD' | 'PUT' | 'DELETE' | 'PATCH' | 'OPTIONS';
  url: string;
  form?: Record<string, string>;
  body?: string;
  headers?: Record<string, string | string[]>;
  cookies?: Record<string, string>;
  from?: string;
};

export type SentMail = WordedMail & { id: string; recipient: string };

export const testAddress = '198.51.100.7';
export const testPassword = 'Lantern-Harbour-42';

/**
 * Starts a portal; with `another` it shares that portal's database, like a second instance. `sql` replaces its pool.
 */
export async function portalForTest(
  overrides: Partial<Config> = {},
  another?: Pick<PortalForTest, 'database'>,
  { timeouts, sql }: { timeouts?: Partial<AppTimeouts>; sql?: Database } = {},
): Promise<PortalForTest> {
  const database = another?.database ?? (await databaseForTest());
  const config: Config = { ...configFrom({}), ...overrides };
  const built = await loadBuiltPages(config);
  const lines: string[] = [];
  let time = new Date('2026-03-04T10:00:00Z').getTime();
  const mails: SentMail[] = [];
  let send: MailTransport['send'] = async ({ id, recipient }, words) => void mails.push({ id, recipient, ...words });
  const log = createLog('debug', { write: (line) => void lines.push(line) });
  const now = () => new Date(time);
  const deps: Deps = {
    config,
    sql: sql ?? database.sql,
    pages: createPages({ config, built }),
    log,
    now,
    keys: { guess: Buffer.alloc(32, 7), code: [Buffer.alloc(32, 9)], seal: [Buffer.alloc(32, 8)] },
    mails: { send: (mail, words) => send(mail, words), close() {} },
    metrics: await createMetrics({ sql: sql ?? database.sql, now }),
    providers: new Map(),
    outage: { isDatabaseAway: false },
    wake: { resetRequests() {}, mails() {} },
  };
  const app = await buildApp(deps, { built, ...(timeouts && { timeouts }) });
  await app.ready();

  const sendRequest = async ({
    form,
    body,
    headers,
    cookies,
    from,
    method = 'GET',
    url,
  }: TestRequest): Promise<Response> => {
    const posted = form ? new URLSearchParams(form).toString() : body;
    const cookie = Object.entries(cookies ?? {}).map(([name, value]) => `${name}=${value}`);
    return await app.inject({
      method,
      url,
      remoteAddress: from ?? testAddress,
      headers: {
        host: config.hosts[0] ?? '',
        accept: 'text/html',
        ...(method === 'GET' ? {} : { origin: config.destinationRules.origin, 'sec-fetch-site': 'same-origin' }),
        ...(posted !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
        ...(cookie.length > 0 && { cookie: cookie.join('; ') }),
        ...headers,
      },
      ...(posted !== undefined && { payload: posted }),
    } satisfies InjectOptions);
  };

  return {
    database,
    sql: database.sql,
    deps,
    app,
    send: sendRequest,
    signIn: (username, password, more = {}) =>
      sendRequest({ method: 'POST', url: '/portal/performlogin', form: { username, password }, ...more }),
    by: () => ({ actor: 'os:alice', now: deps.now() }),
    wait: (milliseconds) => {
      time += milliseconds;
    },
    logs: () => lines.join(''),
    workOff: async () => {
      const answerReset = jobsOf(deps, resetQueue(deps));
      while ((await answerReset()) === 'more');
      const resetFactors = jobsOf(deps, factorResetQueue(deps));
      while ((await resetFactors()) === 'more');
      const deliverMail = jobsOf(deps, mailQueue(deps));
      while ((await deliverMail()) === 'more');
    },
    mails,
    onSend: (next) => {
      send = next;
    },
    close: async () => {
      await app.close();
      if (!another) await database.close();
    },
  };
}

/** The configuration that an operator's environment gives. */
export function configFrom(env: Record<string, string>): Config {
  const result = readConfig(env);
  if (result.kind === 'refused') throw new Error(result.problems.join('; '));
  return result.config;
}

let passwordHash: Promise<string> | undefined;

/** The hash of testPassword, computed once. */
export function testPasswordHash(): Promise<string> {
  passwordHash ??= hashPassword(testPassword, null);
  return passwordHash;
}

/** The cookies set by an answer, by their short names. */
export function cookiesOf(response: Response): Record<string, string> {
  return Object.fromEntries(response.cookies.map(({ name, value }) => [name, value]));
}
