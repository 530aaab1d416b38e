import { beforeEach, expect, it } from 'vitest';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';

const portal = portalOfFile({ once: addAttackFixtures });
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

it('a refused sign-in leaves this browser’s session alone', async () => {
  const token = await tokenOf('alice');
  await portal.signIn('bob', 'wrong', { cookies: { 'vestibule-session': token } });
  expect(await isAlive(token)).toBe(true);
});

it('only the hash of a token is stored', async () => {
  const token = await tokenOf('alice');
  expect(JSON.stringify(await portal.sql`select * from session`)).not.toContain(token);
  expect(portal.logs()).not.toContain(token);
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
