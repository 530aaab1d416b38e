import type { Response } from 'light-my-request';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { limits } from '#server/limits.ts';
import { addAttackFixtures, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf, type PortalForTest, testPassword, testPasswordHash } from '#test/support/portal-for-test.ts';
import { otherInstanceOfFile, poolOfFile, portalOfFile } from '#test/support/portal-of-file.ts';
import { countThrottleAttempt, holdRows, untilWaiting } from '#test/support/rows-for-test.ts';
import { keepHouse } from '../operations/housekeeping.ts';
import { addressKeys, addressLimits } from '../throttle/throttle-keys.ts';

// Verification takes no time here, so that the sign-ins of a test meet in the database.
const verify = vi.hoisted(() => vi.fn());
vi.mock('@node-rs/argon2', async (original) => {
  verify.mockImplementation(async (_hash: string, password: string) => password === testPassword);
  return { ...(await original<typeof import('@node-rs/argon2')>()), verify };
});

const { account, address } = limits.throttle;

// Two instances on one database; requests alternate between them.
const portal = portalOfFile({ once: addAttackFixtures });
const other = otherInstanceOfFile(portal);
/** The portal's own connections are all needed for the sign-ins that wait. */
const aside = poolOfFile(portal);
beforeEach(async () => {
  await portal.sql`delete from throttle`;
  await portal.sql`delete from audit_event`;
  verify.mockClear();
});

const portalOf = (n: number): PortalForTest => (n % 2 ? other : portal);
const sessionOf = (answer: Response) => cookiesOf(answer)['vestibule-session'] ?? '';
const isIn = (answer: Response) => answer.statusCode === 303 && sessionOf(answer) !== '';

/** How often an account's password was really verified: neither unknown nor throttled. */
async function looks(): Promise<number> {
  const [row] = await portal.sql`
    select count(*) from audit_event where event = 'signed-in' or reason = 'wrong-password'`;
  return row?.count;
}

describe('guesses at one account', () => {
  it('BF-09 RC-06 a hundred wrong passwords at once over two instances are verified five times', async () => {
    await Promise.all(
      Array.from({ length: 100 }, (_, n) => portalOf(n).signIn('alice', `guess ${n}`, { from: `192.0.2.${n}` })),
    );
    expect(await looks()).toBe(account.freeFailures);
    expect(verify).toHaveBeenCalledTimes(100);
    const stored = await testPasswordHash();
    expect(verify.mock.calls.filter(([hash]) => hash === stored)).toHaveLength(account.freeFailures);
    const [row] = await portal.sql`select failures from throttle where key like 'account:%'`;
    expect(row?.failures).toBe(account.freeFailures);
  });
});

it('LK-06 two hundred people behind one address sign in at once, with some typing errors', async () => {
  const people = Array.from({ length: 200 }, (_, n) => `person${n}`);
  await Promise.all(people.map((username) => addUser(portal, { username })));
  const answers = await Promise.all(
    people.map(async (username, n) => {
      if (n % 10 === 0) await portal.signIn(username, 'a slip');
      return await portal.signIn(username, testPassword);
    }),
  );
  expect(answers.filter(isIn)).toHaveLength(200);
});

describe('one password for many names', () => {
  const spray = (names: number, from: string) =>
    Promise.all(Array.from({ length: names }, (_, n) => portal.signIn(`user${n}`, 'Spring-2026', { from })));

  it('BF-04 RC-06 an address is stopped before any password is hashed, and a burst gains nothing', async () => {
    const from = '192.0.2.1';
    await spray(address.freeFailures - 1, from);
    verify.mockClear();
    const evaluated = (await spray(30, from)).filter(({ statusCode }) => statusCode === 303).length;
    expect(verify).toHaveBeenCalledTimes(evaluated);
    expect(await portal.sql`select failures from throttle where key = ${addressKeys(from)[0].key}`).toEqual([
      { failures: address.freeFailures - 1 + evaluated },
    ]);
    verify.mockClear();
    const stopped = await portal.signIn('alice', testPassword, { from });
    expect(stopped.statusCode).toBe(429);
    expect(Number(stopped.headers['retry-after'])).toBeGreaterThanOrEqual(address.firstWait / 1000);
    expect(verify).not.toHaveBeenCalled();
    expect(isIn(await portal.signIn('alice', testPassword, { from: '192.0.2.2' }))).toBe(true);
  });

  it('BF-04 an address out of free failures gets one attempt per wait, however many it sends at once', async () => {
    const from = '192.0.2.9';
    await countThrottleAttempt(portal.sql, addressKeys(from)[0], portal.deps.now());
    await portal.sql`update throttle set failures = ${address.freeFailures + 50}, blocked_until = null`;
    // All of them wait for the same row at once.
    const release = await holdRows(aside, (sql) => sql`select from throttle for update`);
    const sprayed = spray(8, from);
    await untilWaiting(aside, 8);
    await release();
    const statuses = (await sprayed).map(({ statusCode }) => statusCode).sort();
    expect(statuses).toEqual([303, ...Array(7).fill(429)]);
    expect(verify).toHaveBeenCalledTimes(1);
    portal.wait(address.longestWait);
    expect(isIn(await portal.signIn('alice', testPassword, { from }))).toBe(true);
  });

  it('BF-06 who has failed from all over a /48 waits for all of it, and everybody else does not', async () => {
    const { site, total } = addressLimits;
    await countThrottleAttempt(portal.sql, { key: 'site:2001:db8:77::/48', limit: site }, portal.deps.now());
    await portal.sql`update throttle set failures = ${site.freeFailures - 1}`;
    const last = await portal.signIn('nobody', 'x', { from: '2001:db8:77:100::1' });
    const next = await portal.signIn('nobody', 'x', { from: '2001:db8:77:200::1' });
    expect([last, next].map(({ statusCode }) => statusCode)).toEqual([303, 429]);
    expect(next.headers['retry-after']).toBe(String(site.firstWait / 1000));
    expect(isIn(await portal.signIn('bob', testPassword, { from: '2001:db8:78:200::1' }))).toBe(true);
    expect(await portal.sql`select failures from throttle where key = 'total'`).toEqual([{ failures: 1 }]);
    expect(site.freeFailures).toBeLessThan(total.freeFailures / 4);
  });
});

it('LK-04 the rows of a flood of names are deleted, except those still waiting or in use by a sign-in', async () => {
  await portal.sql`
    insert into throttle (key, failures, changed_at, admitted)
    select 'name:' || n, 1, ${portal.deps.now()}, true from generate_series(1, 20000) n`;
  await keepHouse(portal.deps);
  expect(await portal.sql`select count(*) from throttle`).toEqual([{ count: 20000 }]);
  portal.wait(account.freeFailures * account.leakEvery + 1000);
  await portal.sql`update throttle set blocked_until = ${new Date(portal.deps.now().getTime() + 1000)} where key = 'name:7'`;
  await portal.sql.begin(async (sql) => {
    await sql`select from throttle where key = 'name:8' for update`;
    await keepHouse(portal.deps);
  });
  expect(await portal.sql`select key from throttle order by key`).toEqual([{ key: 'name:7' }, { key: 'name:8' }]);
});
