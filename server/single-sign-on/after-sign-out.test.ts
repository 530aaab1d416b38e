import { inflateRawSync } from 'node:zlib';
import type { Response } from 'light-my-request';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { addCustomer, addUser } from '#server/testing/accounts-for-test.ts';
import { type ForgedProvider, startForgedProvider } from '#server/testing/forged-openid-provider.ts';
import { portalForTest, testPassword } from '#server/testing/portal-for-test.ts';
import { addSamlConnection, samlProvider } from '#server/testing/saml-sign-in-for-test.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  followLeavePage,
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
  const claims = { sub: 'alice', email: 'alice@acme.test', email_verified: true };
  provider.bend({ claims: (honest) => ({ ...honest, ...claims }) });
});
afterAll(async () => {
  await provider.close();
  await portal.close();
});

let browser: BrowserForTest;
beforeEach(async () => {
  await portal.sql`truncate session, sso_request, sso_subject, audit_event, throttle, mail`;
  await portal.sql`update customer set two_factor = 'off'`;
  portal.mails.length = 0;
  browser = browserForTest(portal);
});

const pressButton = () => browser.post('/portal/authenticate/checkSsoLogin', {});
const signOut = () => browser.post('/portal/logout', {});
const comeBack = async (url: string) => await browser.get(pathOf(provider.visit(url)));
const wishesOf = (url: string) => {
  const { searchParams } = new URL(url);
  return [searchParams.get('prompt'), searchParams.get('max_age')];
};
const afresh = ['login', '0'];
const asEver = [null, null];
const mailedCode = async () => {
  await portal.workOff();
  portal.wait(1000);
  await portal.workOff();
  return /\b(\d{6})\b/.exec(portal.mails.at(-1)?.text ?? '')?.[1] ?? '';
};
const leadsToForm = (answer: Response) => expect(answer.headers.location).toBe('/portal/singleSignOn');

it('SE-15 after a sign-out the button asks the provider to authenticate again, until someone is signed in', async () => {
  await comeBack(await departFor(browser));
  expect(wishesOf(await followLeavePage(browser, await pressButton()))).toEqual(asEver);
  await signOut();
  for (const again of [1, 2])
    expect(wishesOf(await followLeavePage(browser, await pressButton())), String(again)).toEqual(afresh);
  expect(wishesOf(await departFor(browser))).toEqual(afresh);
  await comeBack(await followLeavePage(browser, await pressButton()));
  delete browser.cookies['vestibule-session'];
  expect(wishesOf(await followLeavePage(browser, await pressButton()))).toEqual(asEver);
});

it('SE-15 a password sign-in and sign-out by the next person does not cancel that', async () => {
  await comeBack(await departFor(browser));
  await signOut();
  await browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
  expect(wishesOf(await followLeavePage(browser, await pressButton()))).toEqual(afresh);
});

it('SE-15 abandoning a second factor has the same effect', async () => {
  await portal.sql`update customer set two_factor = 'email'`;
  await comeBack(await departFor(browser));
  await signOut();
  expect(wishesOf(await departFor(browser))).toEqual(afresh);
});

it('SE-15 SAML: after a sign-out the request says ForceAuthn, and before it does not', async () => {
  const saml = await samlProvider('idp.saml.test', portal.deps.now());
  await addSamlConnection(portal, saml, { key: 'saml', domains: ['saml.test'] });
  const forced = async () => {
    const asked = new URL(await departFor(browser, 'somebody@saml.test')).searchParams.get('SAMLRequest') ?? '';
    return / ForceAuthn="true"/.test(inflateRawSync(Buffer.from(asked, 'base64')).toString());
  };
  expect(await forced()).toBe(false);
  await browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
  expect(await forced()).toBe(false);
  await signOut();
  expect(await forced()).toBe(true);
});

it('an invalid answer, or a session that has ended, changes nothing', async () => {
  await comeBack(await departFor(browser));
  await portal.sql`delete from session`;
  expect(wishesOf(await followLeavePage(browser, await pressButton()))).toEqual(asEver);
  await signOut();
  await browser.get(`/portal/authenticate/oidc/callback/acme-oidc?state=${'A'.repeat(43)}`);
  expect(wishesOf(await departFor(browser))).toEqual(afresh);
});

it('SE-15 a connection is remembered once the person is signed in, after the second factor if there is one', async () => {
  leadsToForm(await pressButton());
  await portal.sql`update customer set two_factor = 'email'`;
  await comeBack(await departFor(browser));
  leadsToForm(await pressButton());
  const code = await mailedCode();
  await browser.post('/portal/two-factor-authentication/verify', { code });
  await followLeavePage(browser, await pressButton());
});
