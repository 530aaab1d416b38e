import type { Response } from 'light-my-request';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { addAttackFixtures, addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { keepHouse } from '../operations/housekeeping.ts';

const { account, address, device } = limits.throttle;

const portal = portalOfFile();
beforeAll(async () => {
  await addAttackFixtures(portal);
  await addCustomer(portal, 'careful', { twoFactor: 'app' });
  await addUser(portal, { username: 'frida', customers: ['careful'] });
});
beforeEach(async () => {
  await portal.sql`delete from throttle`;
});

const isIn = (answer: Response) => answer.statusCode === 303 && 'vestibule-session' in cookiesOf(answer);

/** The device cookie of a browser that signed in. */
async function knownBrowser(username: string): Promise<Record<string, string>> {
  const { 'vestibule-device': token = '' } = cookiesOf(await portal.signIn(username, testPassword));
  expect(token).toHaveLength(43);
  return { 'vestibule-device': token };
}

async function guess(username: string, times: number, cookies: Record<string, string> = {}): Promise<void> {
  for (let n = 0; n < times; n += 1)
    await portal.signIn(username, `guess ${n} ${Math.random()}`, { cookies, from: `192.0.2.${n}` });
}

it('BF-01 a browser that signed in before is not locked out by others’ guesses', async () => {
  const cookies = await knownBrowser('alice');
  await guess('alice', account.freeFailures + 3);
  expect(isIn(await portal.signIn('alice', testPassword))).toBe(false);
  expect(isIn(await portal.signIn('alice', testPassword, { cookies }))).toBe(true);
});

it('nor by those from its address, its network or overall', async () => {
  const cookies = await knownBrowser('alice');
  const waitUntil = new Date(portal.deps.now().getTime() + address.longestWait);
  await portal.sql`
    insert into throttle (key, failures, changed_at, blocked_until, admitted)
    select key, 99999, ${portal.deps.now()}, ${waitUntil}, true
    from unnest(array['address:198.51.100.7', 'total']) key`;
  expect((await portal.signIn('alice', testPassword)).statusCode).toBe(429);
  expect(isIn(await portal.signIn('alice', testPassword, { cookies }))).toBe(true);
});

it('its own guesses have their own limit and do not affect the account', async () => {
  const cookies = await knownBrowser('alice');
  await guess('alice', device.freeFailures, cookies);
  expect(isIn(await portal.signIn('alice', testPassword, { cookies }))).toBe(false);
  expect(await portal.sql`select reason from audit_event order by id desc limit 1`).toEqual([
    { reason: 'throttled-device' },
  ]);
  expect(isIn(await portal.signIn('alice', testPassword))).toBe(true);
  portal.wait(device.firstWait);
  expect(isIn(await portal.signIn('alice', testPassword, { cookies }))).toBe(true);
  expect(await portal.sql`select key from throttle where key like 'device:%'`).toEqual([]);
});

it('it is known only for the user who signed in', async () => {
  const cookies = await knownBrowser('bob');
  await guess('alice', account.freeFailures);
  expect(isIn(await portal.signIn('alice', testPassword, { cookies }))).toBe(false);
  const made = { 'vestibule-device': 'A'.repeat(43) };
  expect(isIn(await portal.signIn('alice', testPassword, { cookies: made }))).toBe(false);
});

it('a device cookie that is not a token is replaced, never sent back', async () => {
  for (const value of ['x', 'A'.repeat(42), 'A'.repeat(44), `${'A'.repeat(42)}=`, 'x'.repeat(3000)]) {
    const answer = await portal.signIn('alice', testPassword, { cookies: { 'vestibule-device': value } });
    expect(cookiesOf(answer)['vestibule-device'], value.slice(0, 50)).toMatch(/^[\w-]{43}$/);
  }
});

it('a browser keeps its token while one person signs in there, and gets another with the next one', async () => {
  const first = await knownBrowser('alice');
  const again = cookiesOf(await portal.signIn('alice', testPassword, { cookies: first }));
  expect(again).toMatchObject(first);
  const next = cookiesOf(await portal.signIn('bob', testPassword, { cookies: first }));
  expect(next['vestibule-device']).not.toBe(first['vestibule-device']);
  await guess('bob', account.freeFailures);
  expect(isIn(await portal.signIn('bob', testPassword, { cookies: first }))).toBe(false);
  expect(isIn(await portal.signIn('bob', testPassword, { cookies: next }))).toBe(true);
});

it('CK-04 a planted device cookie does not make the victim’s browser known', async () => {
  for (const planted of [await knownBrowser('bob'), { 'vestibule-device': 'B'.repeat(43) }]) {
    const victim = cookiesOf(await portal.signIn('alice', testPassword, { cookies: planted }));
    expect(victim['vestibule-device']).toMatch(/^[\w-]{43}$/);
    expect(victim['vestibule-device']).not.toBe(planted['vestibule-device']);
    await guess('alice', account.freeFailures);
    expect(isIn(await portal.signIn('alice', testPassword, { cookies: planted }))).toBe(false);
    expect(isIn(await portal.signIn('alice', testPassword, { cookies: victim }))).toBe(true);
    await portal.sql`delete from throttle`;
  }
});

it('BF-01 a new token gives no new guesses at the user before', async () => {
  const cookies = await knownBrowser('alice');
  await guess('alice', device.freeFailures, cookies);
  const renewed = cookiesOf(await portal.signIn('bob', testPassword, { cookies }));
  await guess('alice', account.freeFailures, renewed);
  expect(isIn(await portal.signIn('alice', testPassword, { cookies: renewed }))).toBe(false);
  expect(isIn(await portal.signIn('alice', testPassword, { cookies }))).toBe(false);
});

it('CK-05 a password without its second factor makes no browser known and leaves no long-lived cookie', async () => {
  const answer = await portal.signIn('frida', testPassword);
  // The typed name is kept for ten minutes, in case the form is shown again; the session ends with the browser.
  expect(answer.cookies.map(({ name, maxAge }) => [name, maxAge])).toEqual([
    ['vestibule-session', undefined],
    ['vestibule-refusal', limits.refusalLifetime / 1000],
  ]);
  expect(
    await portal.sql`select from device d join portal_user u on u.id = d.user_id where u.username = 'frida'`,
  ).toHaveLength(0);
});

it('a browser not seen for a long time is forgotten', async () => {
  const cookies = await knownBrowser('alice');
  portal.wait(limits.deviceLifetime + 1000);
  await guess('alice', account.freeFailures);
  expect(isIn(await portal.signIn('alice', testPassword, { cookies }))).toBe(false);
  await keepHouse(portal.deps);
  expect(await portal.sql`select from device`).toHaveLength(0);
});
