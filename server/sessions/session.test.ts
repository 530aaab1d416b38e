import { beforeEach, expect, it } from 'vitest';
import { addAttackFixtures, addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { second } from '../limits.ts';
import { keepHouse } from '../operations/housekeeping.ts';

const portal = portalOfFile({
  once: async (portal) => {
    await addAttackFixtures(portal);
    await addCustomer(portal, 'other');
    await addUser(portal, { username: 'grace', customers: ['acme', 'other'] });
    await addCustomer(portal, 'careful', { twoFactor: 'app' });
    await addUser(portal, { username: 'frida', customers: ['careful', 'acme'] });
  },
});
beforeEach(async () => {
  await portal.sql`delete from throttle`;
  await portal.sql`delete from session`;
});

/** Signs in and returns the session token. */
async function tokenOf(username: string, cookies: Record<string, string> = {}): Promise<string> {
  const answer = await portal.signIn(username, testPassword, { cookies, from: '203.0.113.5' });
  return cookiesOf(answer)['vestibule-session'] ?? '';
}

async function ask(token: string, from = '203.0.113.5') {
  return await portal.send({ url: '/portal/session', cookies: { 'vestibule-session': token }, from });
}
const isAlive = async (token: string) => (await ask(token)).statusCode === 200;

it('SE-01 a session cookie set before sign-in is neither used nor made valid', async () => {
  const chosen = 'A'.repeat(43);
  const token = await tokenOf('alice', { 'vestibule-session': chosen });
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(token).not.toBe(chosen);
  expect(await isAlive(token)).toBe(true);
  expect(await isAlive(chosen)).toBe(false);
});

it('SE-02 every sign-in makes a new session and ends the one of this browser, and no other', async () => {
  const elsewhere = await tokenOf('alice');
  const first = await tokenOf('alice');
  const again = await tokenOf('alice', { 'vestibule-session': first });
  expect(new Set([elsewhere, first, again]).size).toBe(3);
  expect(await Promise.all([elsewhere, first, again].map(isAlive))).toEqual([true, false, true]);
});

it('SE-02 a half session opens nothing, and ends the full one of its browser', async () => {
  const full = await tokenOf('alice');
  const half = await tokenOf('frida', { 'vestibule-session': full });
  expect([await isAlive(full), await isAlive(half)]).toEqual([false, false]);
  const cookies = { 'vestibule-session': half };
  const hub = await portal.send({ url: '/portal/portal.html?x=1', cookies, from: '203.0.113.5' });
  expect([hub.statusCode, hub.body]).toEqual([302, '']);
  expect(hub.headers.location).toBe('/portal/twoFactor?redirectURL=%2Fportal%2Fportal.html%3Fx%3D1');
});

it('a refused sign-in leaves this browser’s session alone', async () => {
  const token = await tokenOf('alice');
  await portal.signIn('bob', 'wrong', { cookies: { 'vestibule-session': token } });
  expect(await isAlive(token)).toBe(true);
});

it('SE-08 SE-03 a token in address, body or other headers is ignored', async () => {
  const token = await tokenOf('alice');
  const names = ['session', 'vestibule-session', 'token', 'sid'];
  const query = names.map((name) => `${name}=${token}`).join('&');
  const headers = { authorization: `Bearer ${token}`, 'x-session': token, 'x-vestibule-session': token };
  const answer = await portal.send({ url: `/portal/session?${query}`, headers, from: '203.0.113.5' });
  expect(answer.statusCode).toBe(401);
  const followed = await portal.send({ url: `/portal/portal.html?${query}`, headers, from: '203.0.113.5' });
  expect(followed.headers.location).toMatch(/^\/portal\/\?destination=/);
  expect(followed.headers['set-cookie']).toBeUndefined();
});

it('SE-07 a cookie that is not exactly one of our tokens is ignored', async () => {
  const token = await tokenOf('alice');
  const flipped = (token.startsWith('A') ? 'B' : 'A') + token.slice(1);
  const changed = [flipped, token.slice(1), token.slice(0, -1), token + token, `${token}A`, `${token}=`, `"${token}"`];
  const values = [...changed, token.toLowerCase(), 'x'.repeat(5000), '', '%00', 'null', '../../etc/passwd', 'é'];
  for (const value of values) expect((await ask(value)).statusCode, value.slice(0, 60)).toBe(401);
  const twice = `vestibule-session=${token}; vestibule-session=${token}`;
  for (const cookie of [
    twice,
    `vestibule-session=x; vestibule-session=${token}`,
    `;;;=${token}`,
    `vestibule-session ${token}`,
  ])
    expect((await portal.send({ url: '/portal/session', headers: { cookie } })).statusCode, cookie).toBe(401);
  expect(await isAlive(token)).toBe(true);
});

it('sessions that are checked at once are each answered for themselves and their address', async () => {
  const [alice, carol, ended] = [await tokenOf('alice'), await tokenOf('carol'), await tokenOf('bob')];
  await tokenOf('bob', { 'vestibule-session': ended });
  const whose = async (token: string, from?: string) => {
    const answer = await ask(token, from);
    return answer.statusCode === 200 ? answer.json().username : answer.statusCode;
  };
  const all = [carol, ended, alice, 'A'.repeat(43), alice].map((token) => whose(token));
  expect(await Promise.all([...all, whose(carol, '198.51.100.1')])).toEqual(['carol', 401, 'alice', 401, 'alice', 401]);
});

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
  ['inactive-user', `update portal_user set active = false where username = ?`],
  ['inactive-customer', `update customer set active = false where key = ?`],
  ['tightened-networks', `update customer set allowed_networks = '{192.0.2.0/24}' where key = ?`],
  ['lost-membership', `delete from membership where customer_id = (select id from customer where key = ?)`],
])('SE-12 %s: the next request is refused, everywhere', async (key, change) => {
  await addCustomer(portal, key);
  await addUser(portal, { username: key, customers: [key] });
  const token = await tokenOf(key);
  expect(await isAlive(token)).toBe(true);
  await portal.sql.unsafe(change.replace('?', `'${key}'`));
  expect(await isAlive(token)).toBe(false);
  const cookies = { 'vestibule-session': token };
  const page = await portal.send({ url: '/portal/portal.html', from: '203.0.113.5', cookies });
  expect(page.headers.location).toBe('/portal/');
});

it('SE-12 a removed customer is no longer listed; the session of a removed user ends', async () => {
  const token = await tokenOf('grace');
  expect((await ask(token)).json().customers).toEqual(['acme', 'other']);
  await portal.sql`update customer set active = false where key = 'other'`;
  expect((await ask(token)).json().customers).toEqual(['acme']);
  await portal.sql`delete from portal_user where username = 'grace'`;
  expect(await isAlive(token)).toBe(false);
});
