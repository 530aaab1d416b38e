import type { Response } from 'light-my-request';
import { beforeEach, expect, it, vi } from 'vitest';
import { limits } from '#server/limits.ts';
import { addAttackFixtures, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { poolOfFile, portalOfFile } from '#test/support/portal-of-file.ts';
import { countThrottleAttempt, holdRows, untilWaiting } from '#test/support/rows-for-test.ts';
import { keepHouse } from '../operations/housekeeping.ts';
import { originKeys, originLimits } from '../throttle/throttle-keys.ts';

// Verification takes no time here, so that the sign-ins of a test meet in the database.
const verify = vi.hoisted(() => vi.fn());
vi.mock('@node-rs/argon2', async (original) => {
  verify.mockImplementation(async (_hash: string, password: string) => password === testPassword);
  return { ...(await original<typeof import('@node-rs/argon2')>()), verify };
});

const { address } = limits.throttle;

const portal = portalOfFile({ once: addAttackFixtures });
/** The portal's own connections are all needed for the sign-ins that wait. */
const aside = poolOfFile(portal);
beforeEach(async () => {
  await portal.sql`delete from throttle`;
  verify.mockClear();
});

const isIn = (answer: Response) => answer.statusCode === 303 && 'vestibule-session' in cookiesOf(answer);

/** One password for many names at once, as in a spraying attack. */
function spray(names: number, from: string): Promise<Response[]> {
  return Promise.all(Array.from({ length: names }, (_, n) => portal.signIn(`user${n}`, 'Spring-2026', { from })));
}

it('BF-04 an address that tries many names is stopped before any password is hashed', async () => {
  const from = '192.0.2.1';
  await spray(address.freeFailures, from);
  verify.mockClear();
  const stopped = await portal.signIn('alice', testPassword, { from });
  expect(stopped.statusCode).toBe(429);
  expect(stopped.headers['retry-after']).toBe(String(address.firstWait / 1000));
  expect(verify).not.toHaveBeenCalled();
  expect(isIn(await portal.signIn('alice', testPassword, { from: '192.0.2.2' }))).toBe(true);
});

it('BF-04 RC-06 concurrent failures are all counted, so that a burst gains nothing', async () => {
  const from = '192.0.2.3';
  const [origin] = originKeys(from);
  await countThrottleAttempt(portal.sql, origin, portal.deps.now());
  await portal.sql`update throttle set failures = ${address.freeFailures - 1}`;
  const evaluated = (await spray(30, from)).filter(({ statusCode }) => statusCode === 303).length;
  const [row] = await portal.sql`select failures, blocked_until from throttle where key = ${origin.key}`;
  expect(row?.failures).toBe(address.freeFailures - 1 + evaluated);
  expect(verify).toHaveBeenCalledTimes(evaluated);
});

it('BF-04 an address out of free failures gets one attempt per wait, however many it sends at once', async () => {
  const from = '192.0.2.9';
  const [origin] = originKeys(from);
  await countThrottleAttempt(portal.sql, origin, portal.deps.now());
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
  expect(isIn(await portal.signIn('bob', testPassword, { from }))).toBe(true);
});

it('BF-06 BF-07 addresses of one /64 share a budget, and a mapped address is its IPv4 address', async () => {
  for (const from of ['2001:db8:1:2::1', '2001:db8:1:2:ffff::1', '::ffff:192.0.2.5', '192.0.2.5'])
    await portal.signIn('nobody', `guess from ${from}`, { from });
  expect(
    await portal.sql`select key, failures from throttle where key ~ '^(address|network|site):' order by key`,
  ).toEqual([
    { key: 'address:192.0.2.5', failures: 2 },
    { key: 'address:2001:db8:1:2::/64', failures: 2 },
    { key: 'network:2001:db8:1:0::/56', failures: 2 },
    { key: 'site:2001:db8:1::/48', failures: 2 },
  ]);
});

it('BF-06 who has failed from all over a /48 waits for all of it, and everybody else does not', async () => {
  const { site, total } = originLimits;
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

it('LK-04 the rows of a flood of names are deleted, except those still waiting', async () => {
  await portal.sql`
    insert into throttle (key, failures, changed_at, admitted)
    select 'name:' || n, 1, ${portal.deps.now()}, true from generate_series(1, 20000) n`;
  expect(isIn(await portal.signIn('alice', testPassword))).toBe(true);
  await keepHouse(portal.deps);
  expect(await portal.sql`select count(*) from throttle`).toEqual([{ count: 20000 }]);
  portal.wait(limits.throttle.account.freeFailures * limits.throttle.account.leakEvery + 1000);
  await portal.sql`update throttle set blocked_until = ${new Date(portal.deps.now().getTime() + 1000)} where key = 'name:7'`;
  await keepHouse(portal.deps);
  expect(await portal.sql`select key from throttle`).toEqual([{ key: 'name:7' }]);
});

it('the deletion blocks no running sign-in, nor is blocked by one', async () => {
  await countThrottleAttempt(portal.sql, originKeys('192.0.2.1')[0], portal.deps.now());
  portal.wait(limits.throttle.account.freeFailures * limits.throttle.account.leakEvery + 1000);
  await portal.sql.begin(async (sql) => {
    await sql`select from throttle for update`;
    await keepHouse(portal.deps);
  });
  expect(await portal.sql`select from throttle`).toHaveLength(1);
  await keepHouse(portal.deps);
  expect(await portal.sql`select from throttle`).toHaveLength(0);
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
