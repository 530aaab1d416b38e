import { beforeAll, beforeEach, expect, it } from 'vitest';
import { addAttackFixtures, addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword, testPasswordHash } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { changeUser } from '../accounts/users.ts';
import { keepHouse } from '../operations/housekeeping.ts';

const second = 1000;
const portal = portalOfFile();
beforeAll(async () => {
  await addAttackFixtures(portal);
  await addCustomer(portal, 'other');
  await addUser(portal, { username: 'grace', customers: ['acme', 'other'] });
});
beforeEach(async () => {
  await portal.sql`delete from throttle`;
  await portal.sql`delete from session`;
});

/** Signs in and returns the session token. */
async function tokenOf(username: string): Promise<string> {
  const answer = await portal.signIn(username, testPassword, { from: '203.0.113.5' });
  return cookiesOf(answer)['vestibule-session'] ?? '';
}

async function ask(token: string, from = '203.0.113.5', { url = '/portal/session', site = '' } = {}) {
  const headers = site === '' ? {} : { 'sec-fetch-site': site };
  return await portal.send({ url, cookies: { 'vestibule-session': token }, from, headers });
}
const isAlive = async (token: string) => (await ask(token)).statusCode === 200;

it('SE-11 an unused session ends after the idle time, to the second', async () => {
  const { sessionIdle } = portal.deps.config;
  const [used, unused] = [await tokenOf('alice'), await tokenOf('bob')];
  portal.wait(sessionIdle - second);
  expect(await isAlive(used)).toBe(true);
  portal.wait(2 * second);
  expect(await isAlive(unused)).toBe(false);
  portal.wait(sessionIdle - 3 * second);
  expect(await isAlive(used)).toBe(true);
  portal.wait(sessionIdle + second);
  expect(await isAlive(used)).toBe(false);
});

it('SE-11 however much it is used, it ends after the absolute time', async () => {
  const { sessionIdle, sessionAbsolute } = portal.deps.config;
  const token = await tokenOf('alice');
  const step = sessionIdle - second;
  let left = sessionAbsolute - second;
  for (; left > step; left -= step) {
    portal.wait(step);
    expect(await isAlive(token)).toBe(true);
  }
  portal.wait(left);
  expect(await isAlive(token)).toBe(true);
  portal.wait(2 * second);
  expect(await isAlive(token)).toBe(false);
  await keepHouse(portal.deps);
  expect(await portal.sql`select from session`).toHaveLength(0);
});

it.each([
  [
    'inactive user',
    `update portal_user set active = false where username = 'carol'`,
    `update portal_user set active = true`,
  ],
  ['inactive customer', `update customer set active = false where key = 'fenced'`, `update customer set active = true`],
  [
    'tightened networks',
    `update customer set allowed_networks = '{192.0.2.0/24}' where key = 'fenced'`,
    `update customer set allowed_networks = '{203.0.113.0/24}' where key = 'fenced'`,
  ],
  [
    'lost membership',
    `with m as (delete from membership m using portal_user u where u.id = m.user_id and username = 'carol')
    select`,
    `insert into membership select u.id, c.id from portal_user u, customer c where username = 'carol' and key = 'fenced'`,
  ],
])('SE-12 %s: the next request is refused, everywhere', async (_what, change, undo) => {
  const token = await tokenOf('carol');
  expect(await isAlive(token)).toBe(true);
  expect(await isAlive(token)).toBe(true);
  await portal.sql.unsafe(change);
  expect(await isAlive(token)).toBe(false);
  const page = await portal.send({
    url: '/portal/portal.html',
    from: '203.0.113.5',
    cookies: { 'vestibule-session': token },
  });
  expect(page.headers.location).toBe('/portal/');
  await portal.sql.unsafe(undo);
  expect(await isAlive(token)).toBe(true);
});

it('SE-13 a new password ends every session of the user, and nobody else’s', async () => {
  const [here, there, somebody] = [await tokenOf('alice'), await tokenOf('alice'), await tokenOf('bob')];
  for (const token of [here, there, somebody]) expect(await isAlive(token)).toBe(true);
  await changeUser(portal.sql, 'alice', { passwordHash: `${await testPasswordHash()}x` }, portal.deps.now());
  expect(await Promise.all([here, there, somebody].map(isAlive))).toEqual([false, false, true]);
});

it('SE-12 a removed customer is no longer listed; the session of a removed user ends', async () => {
  const token = await tokenOf('grace');
  expect((await ask(token)).json().customers).toEqual(['acme', 'other']);
  await portal.sql`update customer set active = false where key = 'other'`;
  expect((await ask(token)).json().customers).toEqual(['acme']);
  await portal.sql`delete from portal_user where username = 'grace'`;
  expect(await isAlive(token)).toBe(false);
});
