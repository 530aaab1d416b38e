import { inflateRawSync } from 'node:zlib';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
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
} from '#test/support/sso-for-test.ts';

const portal = portalOfFile();
const provider = sharedByFile(() => startForgedProvider(portal.deps));
beforeAll(async () => {
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
  await addOidcConnection(portal, provider);
  const saml = await samlProvider('idp.saml.test', portal.deps.now());
  await addSamlConnection(portal, saml, { key: 'saml', domains: ['saml.test'] });
});

let browser: BrowserForTest;
beforeEach(async () => {
  await emptyTables(portal, 'session', 'visit', 'throttle');
  await portal.sql`update customer set two_factor = 'off'`;
  browser = browserForTest(portal);
  portal.deps.config.freshAfterSignOut = true;
  const alice = { sub: 'alice', email: 'alice@acme.test', email_verified: true };
  provider.bend({ claims: (honest) => ({ ...honest, ...alice }) });
});

const signOut = () => browser.post('/portal/logout', {});
const comeBack = async (url: string) => await browser.get(pathOf(provider.visit(url)));
const wishesOf = (url: string) => {
  const { searchParams } = new URL(url);
  return [searchParams.get('prompt'), searchParams.get('max_age')];
};
const fresh = ['login', '0'];
const asEver = [null, null];

it.each<[string, (string | null)[], () => unknown]>([
  ['a sign-out', fresh, signOut],
  ['a sign-out with the second factor open', fresh, signOut],
  [
    'a sign-out, and a sign-in by password',
    fresh,
    async () => {
      await signOut();
      await browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
    },
  ],
  [
    'a sign-out, and an answer to nothing',
    fresh,
    async () => {
      await signOut();
      await browser.get(`/portal/authenticate/oidc/callback/acme-oidc?state=${'A'.repeat(43)}`);
    },
  ],
  ['a session that ends by itself', asEver, () => portal.sql`delete from session`],
  [
    'a sign-out where the operator turned it off',
    asEver,
    async () => {
      await signOut();
      portal.deps.config.freshAfterSignOut = false;
    },
  ],
])('SE-15 the visit after %s asks the provider for a fresh sign-in, once, or not', async (what, wishes, end) => {
  if (what.includes('second factor')) await portal.sql`update customer set two_factor = 'email'`;
  await comeBack(await departFor(browser));
  expect(wishesOf(await departFor(browser))).toEqual(asEver);
  await end();
  const pressed = await browser.post('/portal/authenticate/checkSsoLogin', {});
  const url = String(pressed.headers.location).includes('/leave')
    ? await followLeavePage(browser, pressed)
    : await departFor(browser);
  expect(wishesOf(url)).toEqual(wishes);
  expect(wishesOf(await departFor(browser))).toEqual(asEver);
});

it('SE-15 SAML: the request says ForceAuthn, once', async () => {
  const forced = async () => {
    const asked = new URL(await departFor(browser, 'somebody@saml.test')).searchParams.get('SAMLRequest') ?? '';
    return / ForceAuthn="true"/.test(inflateRawSync(Buffer.from(asked, 'base64')).toString());
  };
  await browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
  expect(await forced()).toBe(false);
  await signOut();
  expect([await forced(), await forced()]).toEqual([true, false]);
});

it('SE-15 a visit that is out when somebody signs out signs nobody in', async () => {
  await browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
  const url = await departFor(browser);
  await signOut();
  expect((await comeBack(url)).headers.location).toBe('/portal/loginfail/oidc');
  expect(await signedInAs(portal, browser.cookies)).toBeNull();
});

it('SE-15 nor does one whose end is being decided by then', async () => {
  await browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
  const answer = pathOf(provider.visit(await departFor(browser)));
  const release = await holdRows(portal.sql, (sql) => sql`select from sso_connection for update`);
  const deciding = browser.get(answer);
  await untilWaiting(portal.sql, 1);
  await signOut();
  await release();
  expect((await deciding).headers.location).toMatch(/^\/portal\/loginfail\/oidc/);
  expect(await portal.sql`select from session`).toHaveLength(0);
});
