import type { Response } from 'light-my-request';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { addAttackFixtures, addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf, type TestRequest, testPassword } from '#test/support/portal-for-test.ts';
import { otherInstanceOfFile, portalOfFile } from '#test/support/portal-of-file.ts';
import { parseNetworkList } from '../names/network.ts';

const portal = portalOfFile({ once: addAttackFixtures });
const { networks: trustedProxies } = parseNetworkList(['198.51.100.0/24']);
const proxied = otherInstanceOfFile(portal, { trustedProxies });
beforeAll(async () => {
  await addCustomer(portal, 'fenced-too', { networks: ['192.0.2.0/24'], twoFactor: 'app' });
  await addUser(portal, { username: 'both', customers: ['fenced', 'fenced-too'] });
});
beforeEach(async () => {
  await portal.sql`delete from throttle`;
  await portal.sql`delete from session`;
});

const allowed = '203.0.113.5';
const isIn = (answer: Response) => answer.statusCode === 303 && 'vestibule-session' in cookiesOf(answer);
const carol = (more: Partial<TestRequest> = {}, on = portal) => on.signIn('carol', testPassword, more);
const refusedAt = (address: string) => `/portal/loginfail/ip?${new URLSearchParams({ ipaddress: address })}`;

it('IP-13 a right password from a refused network gets the address we saw, and no session', async () => {
  const answer = await carol();
  expect(answer.headers.location).toBe(refusedAt('198.51.100.7'));
  expect(Object.keys(cookiesOf(answer))).toEqual(['vestibule-next-page']);
  expect(await portal.sql`select from session`).toHaveLength(0);
  const [event] = await portal.sql`
    select event, reason, username, host(address) as address, steps from audit_event order by id desc limit 1`;
  expect(event).toMatchObject({
    event: 'sign-in-refused',
    reason: 'network',
    username: 'carol',
    address: '198.51.100.7',
  });
  expect(event?.steps).toContainEqual({ step: 'networks of fenced', outcome: 'do not admit 198.51.100.7' });
});

it('IP-07 IP-08 IP-09 IP-10 an address is in a network by its value, however it is written', async () => {
  for (const from of ['203.0.113.0', '203.0.113.255', '2001:db8:a:ffff::1', '::ffff:203.0.113.5', '::ffff:cb00:7105'])
    expect(isIn(await carol({ from })), from).toBe(true);
  for (const from of ['203.0.112.255', '203.0.114.0', '2001:db8:b::1', '::203.0.113.5', '64:ff9b::203.0.113.5'])
    expect((await carol({ from })).headers.location, from).toMatch(/^\/portal\/loginfail\/ip\?/);
});

it('IP-10 IP-19 an address counts without its zone; a request without a Host, as HTTP/1.0 allows, is refused', async () => {
  expect((await carol({ from: 'fe80::1%eth0' })).headers.location).toBe(refusedAt('fe80::1'));
  expect((await carol({ from: allowed, headers: { host: '' } })).statusCode).toBe(421);
});

it('IP-01 IP-20 client headers on a direct connection change nothing', async () => {
  for (const name of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'x-original-url', 'x-forwarded-uri'])
    expect((await carol({ headers: { [name]: allowed } })).headers.location, name).toBe(refusedAt('198.51.100.7'));
  const probe = { 'user-agent': 'kube-probe/1.33', 'x-original-url': '/healthz', 'x-forwarded-uri': '/healthz' };
  expect((await carol({ headers: probe })).headers.location).toBe(refusedAt('198.51.100.7'));
});

it('IP-02 IP-03 through a trusted proxy the address seen by the proxy counts, whatever the client sent', async () => {
  const through = (xff: string | string[]) => carol({ headers: { 'x-forwarded-for': xff } }, proxied);
  expect(isIn(await through(allowed))).toBe(true);
  expect(isIn(await through(`192.0.2.1, ${allowed}`))).toBe(true);
  expect((await through(`${allowed}, 192.0.2.1`)).headers.location).toBe(refusedAt('192.0.2.1'));
  expect((await through([allowed, '192.0.2.1'])).headers.location).toBe(refusedAt('192.0.2.1'));
});

it('IP-04 IP-06 a missing or unreadable header is refused, not skipped, for a session as well', async () => {
  const { 'vestibule-session': token = '' } = cookiesOf(
    await proxied.signIn('alice', testPassword, { from: '192.0.2.1' }),
  );
  const cookies = { 'vestibule-session': token };
  const session = (headers: Record<string, string>) => proxied.send({ url: '/portal/session', cookies, headers });
  expect((await session({ 'x-forwarded-for': allowed })).statusCode).toBe(200);
  for (const value of ['a', '', '1.2.3.4:', '0x7f.1', '010.1.1.1', '[::1', 'unknown', undefined]) {
    const headers: Record<string, string> = value === undefined ? {} : { 'x-forwarded-for': value };
    expect((await proxied.signIn('alice', testPassword, { headers })).statusCode, `${value}`).toBe(400);
    expect((await session(headers)).statusCode, `${value}`).toBe(400);
  }
});

it('IP-14 IP-15 an address that changes after sign-in, or before the second factor, is checked again', async () => {
  const { 'vestibule-session': token = '' } = cookiesOf(await carol({ from: allowed }));
  const ask = (url: string, from: string, session = token) =>
    portal.send({ url, from, cookies: { 'vestibule-session': session } });
  expect((await ask('/portal/session', '203.0.113.200')).statusCode).toBe(200);
  expect((await ask('/portal/session', '198.51.100.7')).statusCode).toBe(401);
  expect((await ask('/portal/portal.html', '198.51.100.7')).headers.location).toBe('/portal/');
  const half = cookiesOf(await portal.signIn('both', testPassword, { from: '192.0.2.1' }))['vestibule-session'];
  const place = '?redirectURL=%2Fportal%2Fportal.html';
  expect((await ask('/portal/portal.html', '192.0.2.1', half)).headers.location).toBe(`/portal/twoFactor${place}`);
  expect((await ask(`/portal/twoFactorRegistration${place}`, '192.0.2.1', half)).statusCode).toBe(200);
  // In a network of one of the user's customers, but not of the one the session is for.
  expect((await ask('/portal/portal.html', allowed, half)).headers.location).toBe('/portal/');
  const away = await ask(`/portal/twoFactorRegistration${place}`, allowed, half);
  expect(away.headers.location).toBe('/portal/login?notice=signInExpired&destination=%2Fportal%2Fportal.html');
  const registration = '/portal/two-factor-authentication/registration';
  expect((await ask(registration, allowed, half)).statusCode).toBe(401);
  expect((await ask(registration, '192.0.2.1', half)).statusCode).toBe(200);
});

it('RL-09 IP-18 while the networks cannot be read nobody gets in or stays in', async () => {
  const { 'vestibule-session': token = '' } = cookiesOf(await carol({ from: allowed }));
  await portal.sql`alter table customer rename column allowed_networks to away`;
  const signIn = await carol({ from: allowed });
  const session = await portal.send({
    url: '/portal/portal.html',
    from: allowed,
    cookies: { 'vestibule-session': token },
  });
  await portal.sql`alter table customer rename column away to allowed_networks`;
  expect([signIn.statusCode, session.statusCode]).toEqual([500, 500]);
  expect(isIn(signIn)).toBe(false);
});
