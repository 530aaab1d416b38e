import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { addCustomer, addUser } from '#server/testing/accounts-for-test.ts';
import { type ForgedProvider, startForgedProvider } from '#server/testing/forged-openid-provider.ts';
import { portalForTest } from '#server/testing/portal-for-test.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  lastFailure,
  pathOf,
} from '#server/testing/sso-for-test.ts';

let portal: Awaited<ReturnType<typeof portalForTest>>;
let provider: ForgedProvider;
beforeAll(async () => {
  portal = await portalForTest();
  provider = await startForgedProvider({ now: portal.deps.now });
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
  await addOidcConnection(portal, provider);
});
afterAll(async () => {
  await provider.close();
  await portal.close();
});

let browser: BrowserForTest;
beforeEach(async () => {
  await portal.sql`truncate session, sso_request, sso_subject, audit_event, throttle`;
  await limited(3600);
  browser = browserForTest(portal);
});

const limited = (seconds: number | null) =>
  portal.sql`update sso_connection set settings = settings || ${portal.sql.json({ maxAuthenticationAge: seconds })}`;
const seconds = () => Math.floor(portal.deps.now().getTime() / 1000);

/** Signs in at the provider, which says this of when the person did so there. */
async function signIn(authTime: unknown): Promise<unknown> {
  const more = {
    email: 'alice@acme.test',
    email_verified: true,
    ...(authTime !== undefined && { auth_time: authTime }),
  };
  provider.bend({ claims: (honest) => ({ ...honest, ...more }) });
  const answer = await browser.get(pathOf(provider.visit(await departFor(browser))));
  return answer.headers.location;
}

it('SA-44 max_age asks the provider to ask anew in time, where the operator sets a maximum', async () => {
  expect(new URL(await departFor(browser)).searchParams.get('max_age')).toBe('3600');
  await limited(null);
  expect(new URL(await departFor(browser)).searchParams.has('max_age')).toBe(false);
});

it('SA-44 a sign-in within the maximum lets in', async () => {
  expect(await signIn(seconds() - 3600)).toBe('/portal/portal.html');
});

it('SA-44 one before, in the future, or of which nothing is said, does not', async () => {
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

it('SA-44 any does where the operator sets none', async () => {
  await limited(null);
  expect(await signIn(seconds() - 365 * 86_400)).toBe('/portal/portal.html');
  expect(await signIn(undefined)).toBe('/portal/portal.html');
});
