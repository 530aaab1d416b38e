import { beforeAll, beforeEach, expect, it } from 'vitest';
import { signOutUser } from '#server/accounts/sign-out-user.ts';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyTables } from '#testing/empty-tables.ts';
import { startForgedProvider } from '#testing/forged-openid-provider.ts';
import { testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { sharedByFile } from '#testing/shared-by-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  followLeavePage,
  pathOf,
} from '#testing/sso-for-test.ts';

const portal = portalOfFile();
const provider = sharedByFile(() => startForgedProvider(portal.deps));
beforeAll(async () => {
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
  await addOidcConnection(portal, provider);
});

let device: BrowserForTest;
beforeEach(async () => {
  await emptyTables(portal, 'session', 'ended_session', 'sso_request', 'throttle', 'audit_event');
  await portal.sql`update customer set two_factor = 'off'`;
  device = browserForTest(portal);
  // As at a real provider, the session there lives on, and shows when the person authenticated.
  const auth_time = Math.floor(portal.deps.now().getTime() / 1000);
  provider.bend({ claims: (honest) => ({ ...honest, email: 'alice@acme.test', email_verified: true, auth_time }) });
});

const signInAtProvider = async () => await device.get(pathOf(provider.visit(await departFor(device))));
const pressButton = async () =>
  await followLeavePage(device, await device.post('/portal/authenticate/checkSsoLogin', {}));

it('SE-15 a device whose user an operator has signed out asks the provider to authenticate again', async () => {
  await signInAtProvider();
  portal.wait(60 * 60_000);
  expect(await signOutUser(portal.sql, 'alice', portal.deps.now())).toBe(1);
  await device.get('/portal/login');
  expect(device.cookies).not.toHaveProperty('vestibule-session');
  const url = await pressButton();
  expect(new URL(url).searchParams.get('prompt')).toBe('login');
  // A provider that ignores the request shows a sign-in from before.
  const end = await device.get(pathOf(provider.visit(url)));
  expect(end.headers.location).toMatch(/^\/portal\/authenticate\/other-account\?/);
  expect(await signedInAs(portal, device.cookies)).toBeNull();
});

it('SE-15 also if the button of a page that was open is the first that it presses', async () => {
  await signInAtProvider();
  await signOutUser(portal.sql, 'alice', portal.deps.now());
  expect(new URL(await pressButton()).searchParams.get('prompt')).toBe('login');
});

it('SE-15 a visit that is out by then signs nobody in', async () => {
  await signInAtProvider();
  const url = await departFor(device);
  await signOutUser(portal.sql, 'alice', portal.deps.now());
  await device.get(pathOf(provider.visit(url)));
  expect(await signedInAs(portal, device.cookies)).toBeNull();
});

it.each(['signed in', 'nobody'])(
  'SE-15 so does one whose user was at their code, with %s here before',
  async (before) => {
    await signInAtProvider();
    await portal.sql`update customer set two_factor = 'email'`;
    if (before === 'nobody') {
      device = browserForTest(portal);
      await portal.sql`delete from session`;
    }
    await device.post('/portal/performlogin', { username: 'alice', password: testPassword });
    expect(await signOutUser(portal.sql, 'alice', portal.deps.now())).toBe(1);
    expect(new URL(await departFor(device)).searchParams.get('prompt')).toBe('login');
  },
);

it('a session of somebody else in the same browser is left alone', async () => {
  await addUser(portal, { username: 'bob' });
  await signInAtProvider();
  await device.post('/portal/performlogin', { username: 'bob', password: testPassword });
  expect(await signOutUser(portal.sql, 'alice', portal.deps.now())).toBe(0);
  expect(await signedInAs(portal, device.cookies)).toBe('bob');
});

it('SE-15 the page between a second factor and the destination keeps neither', async () => {
  await signInAtProvider();
  const page = '/portal/two-factor-authentication/recovery-codes?redirectURL=%2Fportal%2Fportal.html%3Fplan';
  expect((await device.get(page)).statusCode).toBe(200);
  await signOutUser(portal.sql, 'alice', portal.deps.now());
  expect((await device.get(page)).headers.location).toBe('/portal/login');
});
