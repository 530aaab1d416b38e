import { beforeAll, beforeEach, expect, it } from 'vitest';
import { startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile, sharedByFile } from '#test/support/portal-of-file.ts';
import { emptyTables } from '#test/support/rows-for-test.ts';
import { addOidcConnection, browserForTest, departFor, pathOf } from '#test/support/sso-for-test.ts';
import { codeByMail, halfSession, verify } from '#test/support/two-factor-for-test.ts';

// Where the account page can ask nothing itself, it leads to a new sign-in with everything that is required, and back.

const portal = portalOfFile();
const provider = sharedByFile(() => startForgedProvider(portal.deps));
beforeAll(async () => {
  await addCustomer(portal, 'acme');
  await addCustomer(portal, 'mail', { twoFactor: 'email' });
  await addUser(portal, { username: 'alice', passwordHash: null });
  await addUser(portal, { username: 'carol', customers: ['mail'] });
  await addOidcConnection(portal, provider);
});
beforeEach(async () => {
  await emptyTables(portal, 'session', 'throttle', 'visit');
  provider.bend({ claims: (honest) => ({ ...honest, sub: 'subject of alice', email: 'alice@acme.test' }) });
});

const setUp = '/portal/account/app?do=setUp';
const signInAgain = `/portal/logout?destination=${encodeURIComponent(setUp)}`;

it('a person of a provider that ends its sessions, too, stays signed in there, and comes back to what they began', async () => {
  const browser = browserForTest(portal);
  await browser.get(pathOf(provider.visit(await departFor(browser))));
  expect(await signedInAs(portal, browser.cookies)).toBe('alice');
  const { statusCode, headers } = await browser.post(signInAgain, {});
  expect([statusCode, headers.location]).toEqual([303, `/portal/login?destination=${encodeURIComponent(setUp)}`]);
  const visit = new URL(await departFor(browser, undefined, { redirectURL: setUp }));
  expect(visit.searchParams.getAll('prompt')).toEqual(['login']);
  expect((await browser.get(pathOf(provider.visit(String(visit))))).headers.location).toBe(setUp);
});

it('MF-12 the sign-in that leads to setting up an app asks for the code that a remembered device would spare', async () => {
  const half = await halfSession(portal, 'carol');
  const first = await verify(portal, await codeByMail(portal, 'carol'), half, { query: '?remember=true' });
  const cookies = { 'vestibule-remembered': cookiesOf(first)['vestibule-remembered'] ?? '' };
  const landing = async (redirectURL: string) => {
    const form = { username: 'carol', password: testPassword, redirectURL };
    return (await portal.signIn('carol', testPassword, { form, cookies })).headers.location;
  };
  expect(await landing(setUp)).toContain('/twoFactor');
  expect(await landing('/portal/account/app')).toBe('/portal/account/app');
});
