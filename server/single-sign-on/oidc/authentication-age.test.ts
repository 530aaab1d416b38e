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
  signInByOidc,
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
  browser = browserForTest(portal);
});

const limited = (seconds: number | null) =>
  portal.sql`update sso_connection set settings = settings || ${JSON.stringify({ maxAuthenticationAge: seconds })}`;
const seconds = () => Math.floor(portal.deps.now().getTime() / 1000);
const registrationPage = '/portal/twoFactorRegistration';
const toRegister = { redirectURL: registrationPage };
const register = async () =>
  (await browser.get(registrationUrl, { headers: { 'sec-fetch-site': 'same-origin' } })).statusCode;

/** Signs in at the provider, which reports this authentication time. */
async function signIn(authTime: unknown, form: Record<string, string> = {}): Promise<string> {
  provider.bend({ claims: (honest) => ({ ...honest, email: 'alice@acme.test', auth_time: authTime }) });
  return await signInByOidc(provider, browser, undefined, form);
}

it('SA-44 the provider is asked for a maximum age if the operator sets one, and afresh for whoever sets up an app', async () => {
  for (const maximum of [3600, null]) {
    await limited(maximum);
    const usual = new URL(await departFor(browser)).searchParams;
    expect([usual.get('max_age'), usual.get('prompt')]).toEqual([maximum && String(maximum), null]);
    const fresh = new URL(await departFor(browser, undefined, toRegister)).searchParams;
    expect([fresh.get('max_age'), fresh.get('prompt')]).toEqual(['0', 'login']);
  }
});

it('SA-44 a sign-in within the maximum succeeds; an older one, one in the future, or without a time is refused', async () => {
  await limited(3600);
  expect(await signIn(seconds() - 3600)).toBe('/portal/portal.html');
  await portal.sql`delete from session`;
  for (const authTime of [seconds() - 3600 - 121, seconds() + 3600, undefined, String(seconds()), 1e300]) {
    expect(await signIn(authTime), String(authTime)).toMatch(/^\/portal\/loginfail\/oidc/);
    expect(['authentication-too-old', 'answer-invalid']).toContain((await lastFailure(portal))?.reason);
  }
  expect(await portal.sql`select from session`).toHaveLength(0);
  await limited(null);
  for (const authTime of [seconds() - 365 * 86_400, undefined])
    expect(await signIn(authTime)).toBe('/portal/portal.html');
});

it('SA-44 an app is set up after a recent sign-in at the provider, not just because the person came back', async () => {
  await limited(null);
  for (const authTime of [seconds() - limits.freshSignIn / 1000 - 1, undefined]) {
    expect(await signIn(authTime, toRegister), String(authTime)).toBe(registrationPage);
    expect(await register(), String(authTime)).toBe(409);
    expect((await browser.get(registrationPage)).body).toContain('Sign in again to continue');
  }
  expect(await signIn(seconds(), toRegister)).toBe(registrationPage);
  await registerApp(portal, browser.cookies);
});

it('SA-44 an auth_time in the future proves nothing, now or later; clock skew is allowed as usual', async () => {
  await limited(null);
  await signIn(seconds() + 3600, toRegister);
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
