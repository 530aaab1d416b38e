import { beforeAll, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';

const portal = portalOfFile();
beforeAll(async () => {
  await addCustomer(portal, 'acme', { twoFactor: 'email' });
  await addUser(portal, { username: 'bob' });
});

const isIn = async (cookies: Record<string, string>) =>
  (await portal.send({ url: '/portal/session', cookies })).statusCode === 200;

it('RC-07 two tabs of one browser share one chain of sessions: each step ends the previous one, and nobody is signed out', async () => {
  // Both tabs share cookies, as in a browser; a tab that signs in again replaces them.
  let jar = cookiesOf(await portal.signIn('bob', testPassword));
  const first = { ...jar };
  portal.wait(60_000);
  jar = { ...jar, ...cookiesOf(await portal.signIn('bob', testPassword, { cookies: jar })) };
  portal.wait(1000);
  await portal.workOff();
  const code = portal.mails.at(-1)?.text.slice(-6) ?? '';
  const verify = (cookies: Record<string, string>) =>
    portal.send({ method: 'POST', url: '/portal/two-factor-authentication/verify', form: { code }, cookies });
  expect((await verify(first)).headers.location).toContain('notice=signInExpired');
  const half = { ...jar };
  const [one, other] = await Promise.all([verify(jar), verify(jar)]);
  // Whichever the browser keeps, it holds the one session.
  expect(cookiesOf(one)['vestibule-session']).toMatch(/^[\w-]{43}$/);
  expect(cookiesOf(other)['vestibule-session']).toBe(cookiesOf(one)['vestibule-session']);
  jar = { ...jar, ...cookiesOf(one) };
  expect(await isIn(jar)).toBe(true);
  expect([await isIn(first), await isIn(half)]).toEqual([false, false]);
  expect((await portal.send({ url: '/portal/twoFactor', cookies: jar })).headers.location).toBe('/portal/portal.html');
  expect(await portal.sql`select from session`).toHaveLength(1);
});
