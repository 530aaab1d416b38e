import { generateSync } from 'otplib';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { addCustomer, addUser } from '#server/testing/accounts-for-test.ts';
import { cookiesOf, type PortalForTest, portalForTest, testPassword } from '#server/testing/portal-for-test.ts';

let portal: PortalForTest;
beforeAll(async () => {
  portal = await portalForTest();
  await addCustomer(portal, 'app', { twoFactor: 'app' });
  await addCustomer(portal, 'mail', { twoFactor: 'email' });
  await addUser(portal, { username: 'alice', customers: ['app'] });
  await addUser(portal, { username: 'bob', customers: ['mail'] });
});
beforeEach(() => portal.wait(60_000));
afterAll(() => portal.close());

async function verify(code: string, cookies: Record<string, string>, query = '') {
  return await portal.send({
    method: 'POST',
    url: `/portal/two-factor-authentication/verify${query}`,
    body: JSON.stringify(code),
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    cookies,
  });
}
const codeOf = (secret: string) => generateSync({ secret, epoch: portal.deps.now().getTime() / 1000 });

it('an app is registered and asked for from then on', async () => {
  const first = await portal.signIn('alice', testPassword, {
    form: { username: 'alice', password: testPassword, redirectURL: '/portal/x' },
  });
  expect(first.headers.location).toBe('/portal/twoFactorRegistration?redirectURL=%2Fportal%2Fx');
  const cookies = cookiesOf(first);
  const page = await portal.send({ url: String(first.headers.location), cookies });
  expect(page.statusCode).toBe(200);
  const answer = await portal.send({ url: '/portal/two-factor-authentication/registration', cookies });
  const { url, totpSecret } = answer.json();
  expect(url).toMatch(/^data:image\/png;base64,/);
  expect((await verify('000000', cookies)).body).toBe('false');
  const right = await verify(codeOf(totpSecret), cookies);
  expect(right.body).toBe('true');
  expect(right.headers['vestibule-next']).toBe('recoveryCodes');
  const full = cookiesOf(right);
  expect((await portal.send({ url: '/portal/session', cookies: full })).statusCode).toBe(200);
  expect((await portal.send({ url: '/portal/session', cookies })).statusCode).toBe(401);
  const codes = await portal.send({
    url: '/portal/two-factor-authentication/recovery-codes?redirectURL=/portal/x',
    cookies: full,
  });
  expect(codes.statusCode).toBe(200);
  portal.wait(60_000);
  const again = await portal.signIn('alice', testPassword);
  expect(again.headers.location).toBe('/portal/twoFactor?redirectURL=%2Fportal%2Fportal.html');
  expect((await verify(codeOf(totpSecret), cookiesOf(again), '?remember=true')).body).toBe('true');
});

it('a code by e-mail is sent, works once, and is asked for from then on', async () => {
  const first = await portal.signIn('bob', testPassword);
  expect(first.headers.location).toBe(
    '/portal/twoFactorRegistration?redirectURL=%2Fportal%2Fportal.html&codeSentViaEmail=true',
  );
  portal.wait(1000);
  await portal.workOff();
  const code = portal.mails.at(-1)?.text.match(/#(\d{6})$/)?.[1] ?? '';
  expect((await verify(code, cookiesOf(first))).body).toBe('true');
  const again = await portal.signIn('bob', testPassword);
  expect(again.headers.location).toBe('/portal/twoFactor?redirectURL=%2Fportal%2Fportal.html&codeSentViaEmail=true');
});
