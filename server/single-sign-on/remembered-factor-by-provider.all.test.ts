import { beforeEach, expect, it } from 'vitest';
import { startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { portalOfFile, sharedByFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import { addOidcConnection, browserForTest, departFor, pathOf } from '#test/support/sso-for-test.ts';
import { codeByMail, registrationUrl } from '#test/support/two-factor-for-test.ts';

const portal = portalOfFile();
const provider = sharedByFile(() => startForgedProvider(portal.deps));
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme', { twoFactor: 'email' });
  await addUser(portal, { username: 'alice', passwordHash: null });
  await addOidcConnection(portal, provider);
  provider.bend({
    claims: (honest) => ({
      ...honest,
      email: 'alice@acme.test',
      auth_time: Math.floor(portal.deps.now().getTime() / 1000),
    }),
  });
});

/** Signs in through the provider; returns where that leads. */
async function signIn(browser: ReturnType<typeof browserForTest>, form: Record<string, string> = {}) {
  const answer = await browser.get(pathOf(provider.visit(await departFor(browser, 'alice@acme.test', form))));
  return String(answer.headers.location).split('?')[0];
}

/** A browser that a code by email has made remembered, without its session. */
async function rememberedBrowser() {
  const browser = browserForTest(portal);
  expect(await signIn(browser)).toMatch(/\/portal\/twoFactor/);
  const form = { code: await codeByMail(portal, 'alice'), remember: 'on' };
  await browser.post('/portal/two-factor-authentication/verify', form);
  expect((await browser.get(registrationUrl)).statusCode).toBe(200);
  await portal.sql`delete from session`;
  const { 'vestibule-remembered': remembered = '' } = browser.cookies;
  browser.cookies = { 'vestibule-remembered': remembered };
  return browser;
}

it('MF-12 a provider’s sign-in whose code a remembered device spared sets up no app', async () => {
  const browser = await rememberedBrowser();
  expect(await signIn(browser)).toBe('/portal/portal.html');
  expect((await browser.get(registrationUrl)).statusCode).toBe(409);
});

it('MF-12 a visit that leads to the registration asks for the code', async () => {
  const browser = await rememberedBrowser();
  expect(await signIn(browser, { redirectURL: '/portal/twoFactorRegistration' })).toBe('/portal/twoFactor');
});
