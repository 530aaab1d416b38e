import { beforeAll, beforeEach, expect, it } from 'vitest';
import { limits, minute } from '#server/limits.ts';
import { startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { portalOfFile, sharedByFile } from '#test/support/portal-of-file.ts';
import { emptyTables } from '#test/support/rows-for-test.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  lastFailure,
  pathOf,
} from '#test/support/sso-for-test.ts';
import { registerApp, registrationUrl } from '#test/support/two-factor-for-test.ts';

const portal = portalOfFile();
const provider = sharedByFile(() => startForgedProvider(portal.deps));
beforeAll(async () => {
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice', passwordHash: null });
  await addOidcConnection(portal, provider);
});

let browser: BrowserForTest;
beforeEach(async () => {
  await emptyTables(portal, 'session', 'visit', 'sso_subject', 'totp', 'audit_event', 'throttle');
  await limited(3600);
  browser = browserForTest(portal);
});

const limited = (seconds: number | null) =>
  portal.sql`update sso_connection set settings = settings || ${JSON.stringify({ maxAuthenticationAge: seconds })}`;
const seconds = () => Math.floor(portal.deps.now().getTime() / 1000);

/** Signs in at the provider, which reports this authentication time. */
async function signIn(authTime: unknown, form: Record<string, string> = {}): Promise<unknown> {
  const more = {
    email: 'alice@acme.test',
    email_verified: true,
    auth_time: authTime,
  };
  provider.bend({ claims: (honest) => ({ ...honest, ...more }) });
  const answer = await browser.get(pathOf(provider.visit(await departFor(browser, undefined, form))));
  return answer.headers.location;
}

it('SA-44 max_age asks the provider to authenticate again in time, if the operator sets a maximum', async () => {
  expect(new URL(await departFor(browser)).searchParams.get('max_age')).toBe('3600');
  await limited(null);
  expect(new URL(await departFor(browser)).searchParams.has('max_age')).toBe(false);
});

it('SA-44 a sign-in within the maximum succeeds', async () => {
  expect(await signIn(seconds() - 3600)).toBe('/portal/portal.html');
});

it('SA-44 an older one, one in the future, or one without a time is refused', async () => {
  const wrong = [
    seconds() - 365 * 86_400,
    seconds() - 3600 - 121,
    seconds() + 3600,
    undefined,
    String(seconds()),
    1e300,
  ];
  for (const authTime of wrong) {
    expect(await signIn(authTime), String(authTime)).toMatch(/^\/portal\/loginfail\/oidc/);
    expect(['authentication-too-old', 'answer-invalid']).toContain((await lastFailure(portal))?.reason);
  }
  await signIn(seconds() - 365 * 86_400);
  expect((await lastFailure(portal))?.reason).toBe('authentication-too-old');
  expect(await portal.sql`select from session`).toHaveLength(0);
});

it('SA-44 any succeeds if the operator sets no maximum', async () => {
  await limited(null);
  expect(await signIn(seconds() - 365 * 86_400)).toBe('/portal/portal.html');
  expect(await signIn(undefined)).toBe('/portal/portal.html');
});

const registrationPage = '/portal/twoFactorRegistration';
const toRegister = { redirectURL: registrationPage };
const register = async () =>
  (await browser.get(registrationUrl, { headers: { 'sec-fetch-site': 'same-origin' } })).statusCode;

it('SA-44 only a person setting up an app has to authenticate again at the provider, whatever the maximum', async () => {
  for (const maximum of [3600, null]) {
    await limited(maximum);
    const fresh = new URL(await departFor(browser, undefined, toRegister)).searchParams;
    expect([fresh.getAll('prompt'), fresh.getAll('max_age')]).toEqual([['login'], ['0']]);
    expect(new URL(await departFor(browser)).searchParams.has('prompt')).toBe(false);
  }
});

it('SA-44 an app is set up after a recent sign-in at the provider, not just because the person came back', async () => {
  await limited(null);
  const tooOld = seconds() - limits.freshSignIn / 1000 - 1;
  for (const authTime of [tooOld, undefined]) {
    expect(await signIn(authTime, toRegister), String(authTime)).toBe(registrationPage);
    expect(await register(), String(authTime)).toBe(409);
    expect((await browser.get(registrationPage)).body).toContain('Sign in again to continue');
    await expect(registerApp(portal, browser.cookies)).rejects.toThrow();
  }
  expect(await portal.sql`select from totp`).toHaveLength(0);
  expect(await signIn(seconds(), toRegister)).toBe(registrationPage);
  expect(await register()).toBe(200);
  await registerApp(portal, browser.cookies);
});

it('SA-44 an auth_time in the future proves nothing, now or later; clock skew is allowed as usual', async () => {
  await limited(null);
  expect(await signIn(seconds() + 3600, toRegister)).toBe(registrationPage);
  for (let at = 0; at < 4; at += 1) {
    expect((await browser.get('/portal/session')).statusCode).toBe(200);
    expect(await register()).toBe(409);
    portal.wait(20 * minute);
  }
  const clock = limits.providerClock / 1000;
  await signIn(seconds() + clock + 1);
  expect(await register()).toBe(409);
  await signIn(seconds() + clock);
  expect(await register()).toBe(200);
});
