import { inflateRawSync } from 'node:zlib';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile, sharedByFile } from '#test/support/portal-of-file.ts';
import { emptyTables, holdRows, untilWaiting } from '#test/support/rows-for-test.ts';
import { addSamlConnection, samlProvider } from '#test/support/saml-for-test.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  followLeavePage,
  pathOf,
  signInByOidc,
} from '#test/support/sso-for-test.ts';

const portal = portalOfFile();
const provider = sharedByFile(() => startForgedProvider(portal.deps));
beforeAll(async () => {
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
  await addOidcConnection(portal, provider);
  const saml = await samlProvider('idp.saml.test', portal.deps.now());
  await addSamlConnection(portal, saml, { key: 'saml', domains: ['saml.test'] });
  provider.bend({ claims: (honest) => ({ ...honest, email: 'alice@acme.test' }) });
});

let browser: BrowserForTest;
beforeEach(async () => {
  await emptyTables(portal, 'session', 'visit', 'throttle');
  await portal.sql`update customer set two_factor = 'off'`;
  browser = browserForTest(portal);
  portal.deps.config.freshAfterSignOut = true;
});

const signOut = () => browser.post('/portal/logout', {});
const byPassword = () => browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
/** Whether the provider is asked for a fresh sign-in, in all words for it. */
const wishesOf = (url: string) => {
  const { searchParams } = new URL(url);
  return [searchParams.get('prompt'), searchParams.get('max_age')];
};
const asEver = [null, null];

it.each<[string, boolean, () => unknown]>([
  ['a sign-out', true, signOut],
  ['a sign-out with the second factor open', true, signOut],
  ['a sign-out, and a sign-in by password', true, async () => [await signOut(), await byPassword()]],
  ['a session that ends by itself', false, () => portal.sql`delete from session`],
  [
    'a sign-out where the operator turned it off',
    false,
    async () => {
      await signOut();
      portal.deps.config.freshAfterSignOut = false;
    },
  ],
])('SE-15 the visit after %s asks the provider for a fresh sign-in, once: %s', async (what, isAsked, end) => {
  if (what.includes('second factor')) await portal.sql`update customer set two_factor = 'email'`;
  await signInByOidc(provider, browser);
  expect(wishesOf(await departFor(browser))).toEqual(asEver);
  await end();
  const pressed = await browser.post('/portal/authenticate/checkSsoLogin', {});
  const remembers = String(pressed.headers.location).includes('/leave');
  const url = remembers ? await followLeavePage(browser, pressed) : await departFor(browser);
  expect(wishesOf(url)).toEqual(isAsked ? ['login', '0'] : asEver);
  expect(wishesOf(await departFor(browser))).toEqual(asEver);
});

it('SE-15 SAML: the request says ForceAuthn, once', async () => {
  const forced = async () => {
    const asked = new URL(await departFor(browser, 'somebody@saml.test')).searchParams.get('SAMLRequest') ?? '';
    return / ForceAuthn="true"/.test(inflateRawSync(Buffer.from(asked, 'base64')).toString());
  };
  await byPassword();
  expect(await forced()).toBe(false);
  await signOut();
  expect([await forced(), await forced()]).toEqual([true, false]);
});

it('SE-15 a visit whose end is being decided when somebody signs out signs nobody in', async () => {
  await byPassword();
  const answer = pathOf(provider.visit(await departFor(browser)));
  const release = await holdRows(portal.sql, (sql) => sql`select from sso_connection for update`);
  const deciding = browser.get(answer);
  await untilWaiting(portal.sql, 1);
  await signOut();
  await release();
  expect((await deciding).headers.location).toMatch(/^\/portal\/loginfail\/oidc/);
  expect(await portal.sql`select from session`).toHaveLength(0);
});
