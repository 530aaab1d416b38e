import type { Response } from 'light-my-request';
import { beforeEach, expect, it, vi } from 'vitest';
import { limits } from '#server/limits.ts';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { cookiesOf, type PortalForTest, testPassword, testPasswordHash } from '#test/support/portal-for-test.ts';
import { otherInstanceOfFile, portalOfFile } from '#test/support/portal-of-file.ts';
import { holdRows, untilWaiting } from '#test/support/rows-for-test.ts';

// Verification takes no time here, so that the sign-ins of a test meet in the database.
const verify = vi.hoisted(() => vi.fn());
vi.mock('@node-rs/argon2', async (original) => {
  verify.mockImplementation(async (_hash: string, password: string) => password === testPassword);
  return { ...(await original<typeof import('@node-rs/argon2')>()), verify };
});

const { account } = limits.throttle;

// Two instances on one database; requests alternate between them.
const portal = portalOfFile({ once: addAttackFixtures });
const portals = [portal, otherInstanceOfFile(portal)] as const;
beforeEach(async () => {
  await portals[0].sql`delete from throttle`;
  await portals[0].sql`delete from audit_event`;
  verify.mockClear();
});

const portalOf = (n: number) => portals[n % 2] as PortalForTest;
const sessionOf = (answer: Response) => cookiesOf(answer)['vestibule-session'] ?? '';

async function isAlive(token: string): Promise<boolean> {
  const answer = await portals[1].send({ url: '/portal/session', cookies: { 'vestibule-session': token } });
  return answer.statusCode === 200;
}

/** How often an account's password was really verified: neither unknown nor throttled. */
async function looks(): Promise<number> {
  const [row] = await portals[0].sql`
    select count(*) from audit_event where event = 'signed-in' or reason = 'wrong-password'`;
  return row?.count;
}

it('BF-09 RC-06 a hundred wrong passwords at once over two instances are verified five times', async () => {
  await Promise.all(
    Array.from({ length: 100 }, (_, n) => portalOf(n).signIn('alice', `guess ${n}`, { from: `192.0.2.${n}` })),
  );
  expect(await looks()).toBe(account.freeFailures);
  expect(verify).toHaveBeenCalledTimes(100);
  const stored = await testPasswordHash();
  expect(verify.mock.calls.filter(([hash]) => hash === stored)).toHaveLength(account.freeFailures);
  const [row] = await portals[0].sql`select failures from throttle where key like 'account:%'`;
  expect(row?.failures).toBe(account.freeFailures);
});

it('a right password among a hundred wrong ones at once allows no more than five verifications', async () => {
  const passwords = Array.from({ length: 100 }, (_, n) => (n === 60 ? testPassword : `guess ${n}`));
  await Promise.all(passwords.map((password, n) => portalOf(n).signIn('bob', password, { from: `192.0.2.${n}` })));
  const [row] = await portals[0].sql`select count(*) from audit_event where event = 'signed-in'`;
  // If it was among the first five it reset the count once, as any right password does.
  expect(await looks()).toBeLessThanOrEqual(account.freeFailures * (1 + row?.count));
});

it('the same wrong password submitted twice at once counts once', async () => {
  await Promise.all([0, 1].map((n) => portalOf(n).signIn('alice', 'slip of the finger')));
  const [row] = await portals[0].sql`select failures from throttle where key like 'account:%'`;
  expect(row?.failures).toBe(1);
});

it('fifty right passwords at once give as many working sessions, even at the last free attempt, and end the one before', async () => {
  for (let n = 0; n < account.freeFailures - 1; n += 1) await portals[0].signIn('alice', `guess ${n}`);
  const old = sessionOf(await portals[0].signIn('bob', testPassword));
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      portalOf(n).signIn('alice', testPassword, { cookies: { 'vestibule-session': old } }),
    ),
  );
  const alive = await Promise.all(answers.map((answer) => isAlive(sessionOf(answer))));
  expect(alive).toEqual(Array(50).fill(true));
  expect(await isAlive(old)).toBe(false);
});

it('mixed sign-ins at once over two instances neither deadlock nor fail', async () => {
  const { 'vestibule-device': known = '', 'vestibule-session': old = '' } = cookiesOf(
    await portals[0].signIn('alice', testPassword),
  );
  const cookies = { 'vestibule-device': known, 'vestibule-session': old };
  const kinds = [
    (n: number) => portalOf(n).signIn('alice', testPassword, { cookies }),
    (n: number) => portalOf(n).signIn('alice', `guess ${n}`, { cookies, from: '2001:db8:1::1' }),
    (n: number) => portalOf(n).signIn('bob', testPassword, { from: '2001:db8:1:1::1' }),
    (n: number) => portalOf(n).signIn('bob', `guess ${n}`, { from: '2001:db8:1:2::1' }),
    (n: number) => portalOf(n).signIn(`nobody${n}`, 'guess', { from: '2001:db8:1::1' }),
    (n: number) => portalOf(n).signIn('carol', testPassword, { from: '203.0.113.5', cookies }),
  ];
  const answers = await Promise.all(Array.from({ length: 180 }, (_, n) => kinds[n % kinds.length]?.(n)));
  expect(new Set(answers.map((answer) => answer?.statusCode))).toEqual(new Set([303]));
});

it('RC-08 a user deactivated while the password is verified gets no session', async () => {
  const release = await holdRows(
    portals[0].sql,
    (sql) => sql`update portal_user set active = false where username = 'bob'`,
  );
  const signingIn = portals[1].signIn('bob', testPassword);
  await untilWaiting(portals[0].sql, 1);
  await release();
  const answer = await signingIn;
  expect(answer.headers.location).toBe('/portal/loginfail/default');
  expect(sessionOf(answer)).toBe('');
  expect(await portals[0].sql`select reason from audit_event`).toEqual([{ reason: 'inactive' }]);
});
