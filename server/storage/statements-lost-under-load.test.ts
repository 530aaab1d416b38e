import type { Response } from 'light-my-request';
import { afterEach, describe, expect, test } from 'vitest';
import { tokenHash } from '#server/secrets/token.ts';
import { ignoredParameters, pgbouncerForTest } from '#testing/pgbouncer-for-test.ts';
import { cookiesOf, type PortalForTest, portalForTest, testPassword } from '#testing/portal-for-test.ts';
import { changedPage, changeTo, linkFor } from '#testing/reset-for-test.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import {
  type Browser,
  codeNow,
  giveApp,
  halfSession,
  startTwoFactorAfresh,
  step,
  verify,
} from '#testing/two-factor-for-test.ts';
import { connect } from './connect.ts';
import type { Database } from './database.ts';
import { fitToPooler } from './pooler.ts';

const closing: (() => Promise<unknown>)[] = [];
const notices: string[] = [];
afterEach(async () => {
  notices.length = 0;
  for (const close of closing.splice(0).reverse()) await close();
});

async function portalOnPostgres(): Promise<PortalForTest> {
  const portal = await portalForTest();
  closing.push(portal.close);
  return portal;
}

/** A portal behind PgBouncer, which gives every transaction another session and resets it afterwards. */
async function portalOnPgbouncer(): Promise<PortalForTest> {
  const direct = await portalForTest();
  closing.push(direct.close);
  const reset = { server_reset_query: 'DISCARD ALL', server_reset_query_always: 1, server_round_robin: 1 };
  const { url, close } = await pgbouncerForTest(direct.database, { ...ignoredParameters, ...reset });
  closing.push(close);
  const sql = connect({ url }, { onNotice: (text) => void notices.push(text) });
  closing.push(() => sql.end({ timeout: 5 }));
  const portal = await portalForTest({}, direct, { sql });
  closing.push(portal.close);
  return portal;
}

/**
 * Runs rounds of mixed requests while statements get lost. 503 answers, which a transaction that loses a statement
 * gets, are retried and counted; any other unexpected answer fails.
 */
async function load(portal: PortalForTest, lose: (sql: Database) => Promise<unknown>): Promise<number> {
  let refused = 0;
  const again = async (request: () => Promise<Response>): Promise<Response> => {
    const answer = await request();
    if (answer.statusCode !== 503) return answer;
    refused += 1;
    return await again(request);
  };
  await startTwoFactorAfresh(portal);
  const secret = await giveApp(portal, 'alice');
  const living: [string, Browser][] = [];
  const signIn = async (username: string, password = testPassword) => {
    const answer = await again(() => portal.signIn(username, password));
    expect(answer.headers.location).toBe('/portal/portal.html');
    living.push([username, cookiesOf(answer)]);
  };
  const check = async ([username, cookies]: [string, Browser]) =>
    expect(await signedInAs(portal, cookies)).toBe(username);
  const secondFactor = async () => {
    const half = await halfSession(portal, 'alice');
    const answer = await again(() => verify(portal, codeNow(portal, secret), half));
    expect([answer.statusCode, answer.body]).toEqual([200, 'true']);
    living.push(['alice', { ...half, ...cookiesOf(answer) }]);
  };
  const reset = async (round: number) => {
    const token = await linkFor(portal, 'beth');
    const answer = await again(() => changeTo(portal, token, `Harbour-Lantern-${round}x7`));
    expect(answer.headers.location).toBe(changedPage);
  };
  await signIn('pat');
  for (let round = 0; round < 8; round += 1) {
    portal.wait(step);
    await Promise.all([
      ...[signIn('pat'), signIn('pat'), secondFactor(), reset(round)],
      ...Array.from({ length: 40 }, (_, at) => check(living[at % living.length] as [string, Browser])),
      ...Array.from({ length: 5 }, () => lose(portal.deps.sql)),
    ]);
  }
  await Promise.all(living.map(check));
  const kept = await portal.sql<{ hash: string }[]>`
    select encode(token_hash, 'hex') as hash from session where stage = 'full'`;
  const tokens = living.map(([, cookies]) => tokenHash(cookies['vestibule-session'] ?? '').toString('hex'));
  expect(kept.map(({ hash }) => hash).sort()).toEqual(tokens.sort());
  const devices = await portal.sql<{ length: number }[]>`
    select distinct octet_length(token_hash) as length from device`;
  expect(devices).toEqual([{ length: 32 }]);
  return refused;
}

describe('concurrent sign-ins, session checks, resets and second factors', { timeout: 120_000 }, () => {
  test('on PostgreSQL while its sessions forget their prepared statements', async () => {
    const portal = await portalOnPostgres();
    await load(portal, (sql) => {
      // As if nothing had been lost yet: the next round loses statements too.
      sql.options.prepare = true;
      return sql.unsafe('deallocate all');
    });
  });

  test('behind PgBouncer in transaction mode, without a failed request', async () => {
    const portal = await portalOnPgbouncer();
    await fitToPooler(portal.deps.sql);
    expect(await load(portal, async () => {})).toBe(0);
    // No statement was lost, not even a resent one.
    expect(notices).toEqual([]);
  });

  test('behind a pooler that is not detected', async () => {
    const portal = await portalOnPgbouncer();
    expect(portal.deps.sql.options.prepare).toBe(true);
    expect(await load(portal, async () => {})).toBeLessThan(40);
    expect(portal.deps.sql.options.prepare).toBe(false);
    expect(notices).toEqual([expect.stringContaining('a prepared statement was lost')]);
  });
});
