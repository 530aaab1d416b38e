import { beforeEach, expect, it } from 'vitest';
import { signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  type Browser,
  codeNow,
  giveApp,
  halfSession,
  startTwoFactorAfresh,
  verify,
  verifyByForm,
} from '#test/support/two-factor-for-test.ts';
import { limits } from '../limits.ts';

let secret: string;
let cookies: Browser;
const portal = portalOfFile();
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  secret = await giveApp(portal, 'alice');
  cookies = await halfSession(portal, 'alice');
});

/** A right code is refused without effect: no session, no count. */
async function expectGone(held: Browser): Promise<void> {
  const code = codeNow(portal, secret);
  const answer = await verify(portal, code, held);
  expect([answer.statusCode, answer.cookies]).toEqual([401, []]);
  expect(answer.json()).toEqual({ type: 'about:blank', title: 'Not signed in', status: 401, notice: 'signInExpired' });
  const redirectURL = '/portal/x?y=1';
  const form = await verifyByForm(portal, { code, redirectURL, remember: 'on' }, held, '?lang=de');
  expect([form.headers.location, form.cookies]).toEqual([
    '/portal/login?notice=signInExpired&destination=%2Fportal%2Fx%3Fy%3D1&lang=de',
    [],
  ]);
  expect(await signedInAs(portal, held)).toBeNull();
  expect(await portal.sql`select from throttle where key like 'code:%'`).toEqual([]);
  expect(await portal.sql`select from audit_event where event = 'code-refused'`).toEqual([]);
}

it.each<[string, (token: string) => Browser]>([
  ['no cookie', () => ({})],
  ['an unknown token', () => ({ 'vestibule-session': 'x'.repeat(43) })],
  ['a token cut short', (token) => ({ 'vestibule-session': token.slice(0, 42) })],
  ['its token as that of a device', (token) => ({ 'vestibule-device': token, 'vestibule-remembered': token })],
])('MF-09 with %s a right code is answered 401, and opens nothing', async (_what, held) => {
  await expectGone(held(cookies['vestibule-session'] as string));
});

it.each<[string, () => PromiseLike<unknown>]>([
  ['its ten minutes are over (SE-05)', async () => portal.wait(limits.halfSession)],
  ['it was signed out', () => portal.send({ method: 'POST', url: '/portal/logout', cookies })],
  ['its browser signed in again', () => portal.signIn('alice', testPassword, { cookies })],
  ['its user was made inactive', () => portal.sql`update portal_user set active = false`],
  ['its user was removed', () => portal.sql`delete from portal_user`],
  ['its customer was switched off', () => portal.sql`update customer set active = false`],
  ['its customer is not the user’s any more', () => portal.sql`delete from membership`],
  ['its network is admitted no more', () => portal.sql`update customer set allowed_networks = '{192.0.2.0/24}'`],
])('MF-09 once %s a right code is answered 401, and opens nothing', async (_what, happens) => {
  await happens();
  await expectGone(cookies);
});

it('IP-14 IP-15 SE-05 works to its last millisecond where the customer admits the address, and nowhere else', async () => {
  await portal.sql`update customer set allowed_networks = '{198.51.100.0/24,203.0.113.0/24}'`;
  portal.wait(limits.halfSession - 1);
  const code = codeNow(portal, secret);
  expect((await verify(portal, code, cookies, { from: '192.0.2.1' })).statusCode).toBe(401);
  expect((await verify(portal, code, cookies, { from: '203.0.113.9' })).body).toBe('true');
});

it('MF-20 cancel ends the half session: its code no longer works, and the destination is kept', async () => {
  const headers = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' };
  const url = '/portal/logout?destination=%2Fportal%2Fx&lang=de';
  const cancelled = await portal.send({ url, cookies, headers });
  expect([cancelled.statusCode, cancelled.headers.location]).toEqual([
    303,
    '/portal/login?destination=%2Fportal%2Fx&lang=de',
  ]);
  expect(cookiesOf(cancelled)['vestibule-session']).toBe('');
  await expectGone(cookies);
});
