import { inflateRawSync } from 'node:zlib';
import { beforeEach, expect, it } from 'vitest';
import { forger } from '#test/forgeries/forged-saml.ts';
import { addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import {
  acs,
  addSamlConnection,
  ownEntityId,
  postSamlAnswer,
  samlAnswer,
  samlProviderOfFile,
  samlRequestAt,
} from '#test/support/saml-for-test.ts';
import { type BrowserForTest, browserForTest, departFor } from '#test/support/sso-for-test.ts';
import { registerApp, registrationUrl, verify } from '#test/support/two-factor-for-test.ts';

const portal = portalOfFile();
const evil = samlProviderOfFile(portal, 'idp.evil.test');
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addCustomer(portal, 'evil');
  await addSamlConnection(portal, evil, { key: 'evil', customerKey: 'evil', domains: ['evil.test'] });
  portal.mails.length = 0;
});

async function signInByProvider(email: string, browser: BrowserForTest = browserForTest(portal)) {
  const request = samlRequestAt(await departFor(browser, email));
  const end = await postSamlAnswer(portal, browser, samlAnswer(portal, evil, request, { email }));
  return { browser, location: String(end.headers.location) };
}

const register = async ({ cookies }: BrowserForTest) =>
  (await portal.send({ url: registrationUrl, cookies, headers: { 'sec-fetch-site': 'same-origin' } })).statusCode;
const registrationPage = '/portal/twoFactorRegistration?destination=%2Fportal%2Fportal.html';

it('SA-30 a provider sets up no app for a person with a password: nothing of theirs changes', async () => {
  for (const customers of [['evil'], ['acme', 'evil']]) {
    const username = `uma${customers.length}`;
    await addUser(portal, { username, email: `${username}@evil.test`, customers });
    const elsewhere = cookiesOf(await portal.signIn(username, testPassword));
    const { browser } = await signInByProvider(`${username}@evil.test`);
    await expect(registerApp(portal, browser.cookies)).rejects.toThrow();
    expect(await register(browser)).toBe(409);
    const page = await browser.get(registrationPage);
    expect(page.body).toContain('Sign in with your password or passkey once');
    expect(page.body).toContain('/portal/logout?destination=%2Fportal%2FtwoFactorRegistration');
    expect(await signedInAs(portal, elsewhere)).toBe(username);
    expect(await signedInAs(portal, browser.cookies)).toBe(username);
    expect((await portal.signIn(username, testPassword)).headers.location).toBe('/portal/portal.html');
  }
  expect(await portal.sql`select from totp`).toHaveLength(0);
});

it('SA-30 nor for a person without a password who belongs to another customer too', async () => {
  await addUser(portal, { username: 'uma', email: 'uma@evil.test', customers: ['acme', 'evil'], passwordHash: null });
  const { browser } = await signInByProvider('uma@evil.test');
  expect(await register(browser)).toBe(409);
  expect((await browser.get(registrationPage)).body).toContain('Your administrator can help');
  // Old and recent sign-ins get the same answer.
  portal.wait(11 * 60_000);
  expect((await browser.get(registrationPage)).body).toContain('Your administrator can help');
});

it('SA-30 where the customer requires an app as well, the page says what to do', async () => {
  await portal.sql`update customer set two_factor = 'app' where key = 'evil'`;
  await addUser(portal, { username: 'uma', email: 'uma@evil.test', customers: ['evil'] });
  await addUser(portal, { username: 'uwe', email: 'uwe@evil.test', customers: ['acme', 'evil'], passwordHash: null });
  for (const [name, words] of [
    ['uma', 'Sign in with your password or passkey once'],
    ['uwe', 'Your administrator can help'],
  ] as const) {
    const { browser, location } = await signInByProvider(`${name}@evil.test`);
    expect(location).toMatch(/^\/portal\/twoFactorRegistration/);
    expect((await browser.get(location)).body).toContain(words);
    expect(await register(browser)).toBe(409);
    expect(await signedInAs(portal, browser.cookies)).toBeNull();
  }
  // By password it continues as usual.
  expect((await portal.signIn('uma', testPassword)).headers.location).toMatch(/^\/portal\/twoFactorRegistration/);
  await registerApp(portal, cookiesOf(await portal.signIn('uma', testPassword)));
});

it('MF-12 a person whose customer required codes by email before proves one first, unless the app cannot be set up here', async () => {
  await portal.sql`update customer set two_factor = 'email' where key = 'evil'`;
  await addUser(portal, { username: 'sam', email: 'sam@evil.test', customers: ['evil'], passwordHash: null });
  await addUser(portal, { username: 'uma', email: 'uma@evil.test', customers: ['evil'] });
  const code = async () => {
    portal.wait(1000);
    await portal.workOff();
    return portal.mails.at(-1)?.text.slice(-6) ?? '';
  };
  for (const name of ['sam', 'uma']) {
    const { browser } = await signInByProvider(`${name}@evil.test`);
    expect((await verify(portal, await code(), browser.cookies)).body).toBe('true');
  }
  await portal.sql`update customer set two_factor = 'app' where key = 'evil'`;
  const { browser, location } = await signInByProvider('sam@evil.test');
  expect(location).toMatch(/^\/portal\/twoFactor\?.*codeSentViaEmail=true/);
  expect(await register(browser)).toBe(409);
  const answer = await verify(portal, await code(), browser.cookies);
  expect(answer.body).toBe('true');
  const next = { ...browser.cookies, ...cookiesOf(answer) };
  expect(await signedInAs(portal, next)).toBeNull();
  const { cookies } = await registerApp(portal, next);
  expect(await signedInAs(portal, cookies)).toBe('sam');
  expect(
    await portal.sql`select from session where connection_id is null and user_id = (select id from portal_user where username = 'sam')`,
  ).toEqual([]);

  const sent = portal.mails.length;
  const uma = await signInByProvider('uma@evil.test');
  expect(uma.location).toMatch(/^\/portal\/twoFactorRegistration\?(?!.*codeSentViaEmail)/);
  expect((await uma.browser.get(uma.location)).body).toContain('Sign in with your password or passkey once');
  await portal.workOff();
  expect(portal.mails.slice(sent).map(({ recipient }) => recipient)).not.toContain('uma@evil.test');
});

it('a person who belongs only to the connection’s customer and has no password sets up an app', async () => {
  await addUser(portal, { username: 'sam', email: 'sam@evil.test', customers: ['evil'], passwordHash: null });
  const other = await signInByProvider('sam@evil.test');
  const { browser } = await signInByProvider('sam@evil.test');
  await registerApp(portal, browser.cookies);
  expect(await signedInAs(portal, other.browser.cookies)).toBeNull();
});

it('so does one whose password is unusable, since the domain requires single sign-on', async () => {
  await portal.sql`update sso_connection set required = true`;
  await portal.sql`update customer set two_factor = 'app' where key = 'evil'`;
  await addUser(portal, { username: 'sam', email: 'sam@evil.test', customers: ['evil'] });
  const { browser } = await signInByProvider('sam@evil.test');
  await registerApp(portal, browser.cookies);
});

it('SA-30 an app that was shown is not confirmed once the account has another way in', async () => {
  await addUser(portal, { username: 'sam', email: 'sam@evil.test', customers: ['evil'], passwordHash: null });
  const { browser } = await signInByProvider('sam@evil.test');
  expect(await register(browser)).toBe(200);
  await portal.sql`insert into membership select u.id, c.id from portal_user u, customer c where c.key = 'acme'`;
  await expect(registerApp(portal, browser.cookies)).rejects.toThrow();
  expect(await portal.sql`select from totp`).toHaveLength(0);
});

it('SA-30 an app set up through a provider ends only sessions that the provider could have opened', async () => {
  await addUser(portal, { username: 'sam', email: 'sam@evil.test', customers: ['acme', 'evil'] });
  const before = cookiesOf(await portal.signIn('sam', testPassword));
  // From now on they belong only to the customer, and have no password; the earlier session still exists.
  await portal.sql`update portal_user set password_hash = null`;
  await portal.sql`delete from membership where customer_id = (select id from customer where key = 'acme')`;
  const { browser } = await signInByProvider('sam@evil.test');
  await registerApp(portal, browser.cookies);
  expect(await signedInAs(portal, before)).toBe('sam');
});

it('SA-44 an app needs the provider to authenticate the person again, not just to send them back', async () => {
  await addUser(portal, { username: 'sam', email: 'sam@evil.test', customers: ['evil'], passwordHash: null });
  const signIn = async (at: number, form = {}) => {
    const browser = browserForTest(portal);
    const url = await departFor(browser, 'sam@evil.test', form);
    const made = forger({
      key: evil.key,
      now: portal.deps.now(),
      entityId: evil.entityId,
      acs,
      audience: ownEntityId,
      requestId: null,
    });
    const authn = made.authn({ AuthnInstant: made.at(at) });
    const answer = samlAnswer(portal, evil, samlRequestAt(url), { email: 'sam@evil.test', authn });
    await postSamlAnswer(portal, browser, answer);
    return { browser, url };
  };
  const old = await signIn(-3600_000);
  expect(await signedInAs(portal, old.browser.cookies)).toBe('sam');
  expect(await register(old.browser)).toBe(409);
  expect((await old.browser.get(registrationPage)).body).toContain('Sign in again to continue');
  const fresh = await signIn(0, { redirectURL: '/portal/twoFactorRegistration' });
  expect(inflated(fresh.url)).toContain('ForceAuthn="true"');
  expect(inflated(old.url)).not.toContain('ForceAuthn="true"');
  await registerApp(portal, fresh.browser.cookies);
});

const inflated = (url: string) =>
  inflateRawSync(Buffer.from(new URL(url).searchParams.get('SAMLRequest') ?? '', 'base64')).toString();
