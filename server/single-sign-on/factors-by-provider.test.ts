import { inflateRawSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { forger } from '#test/forgeries/forged-saml.ts';
import { addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { poolOfFile, portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase, holdRows, untilWaiting } from '#test/support/rows-for-test.ts';
import {
  acs,
  addSamlConnection,
  ownEntityId,
  postSamlAnswer,
  samlAnswer,
  samlProviderOfFile,
  samlRequestAt,
  signInBySaml,
} from '#test/support/saml-for-test.ts';
import { type BrowserForTest, browserForTest, departFor } from '#test/support/sso-for-test.ts';
import {
  codeByMail,
  codeNow,
  registerApp,
  registrationUrl,
  verdict,
  verify,
  verifyUrl,
} from '#test/support/two-factor-for-test.ts';

const portal = portalOfFile();
const evil = samlProviderOfFile(portal, 'idp.evil.test');
const pool = poolOfFile(portal);
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addCustomer(portal, 'evil');
  await addSamlConnection(portal, evil, { key: 'evil', customerKey: 'evil', domains: ['acme.test'] });
  portal.mails.length = 0;
});

/** A user at acme.test, of the evil provider's customer alone and without a password unless it is said. */
const addPerson = (username: string, more: { customers?: string[]; passwordHash?: null } = { passwordHash: null }) =>
  addUser(portal, { username, customers: ['evil'], ...more });
async function signIn(name: string, form: Record<string, string> = {}, browser = browserForTest(portal)) {
  const location = await signInBySaml(portal, evil, browser, { email: `${name}@acme.test`, form });
  return { browser, location, page: location.split('?')[0] };
}
const register = async ({ cookies }: BrowserForTest) =>
  (await portal.send({ url: registrationUrl, cookies, headers: { 'sec-fetch-site': 'same-origin' } })).statusCode;
const registrationPage = '/portal/twoFactorRegistration?destination=%2Fportal%2Fportal.html';
const demand = (twoFactor: string) => portal.sql`update customer set two_factor = ${twoFactor} where key = 'evil'`;
const who = ({ cookies }: BrowserForTest) => signedInAs(portal, cookies);
const byPasswordFirst = 'Sign in with your password or passkey once';
const byAdministrator = 'Your administrator can help';

describe('a provider sets up no app for a person with another way in', () => {
  it.each([[['evil']], [['acme', 'evil']]])(
    'SA-30 with a password, of %j: nothing of theirs changes',
    async (customers) => {
      await addPerson('uma', { customers });
      const elsewhere = cookiesOf(await portal.signIn('uma', testPassword));
      const { browser } = await signIn('uma');
      await expect(registerApp(portal, browser.cookies)).rejects.toThrow();
      expect(await register(browser)).toBe(409);
      const { body } = await browser.get(registrationPage);
      expect(body).toContain(byPasswordFirst);
      expect(body).toContain('/portal/logout?destination=%2Fportal%2FtwoFactorRegistration');
      expect([await signedInAs(portal, elsewhere), await who(browser)]).toEqual(['uma', 'uma']);
      expect(await portal.sql`select from totp`).toHaveLength(0);
    },
  );

  it('SA-30 of another customer too, without a password', async () => {
    await addPerson('uma', { customers: ['acme', 'evil'], passwordHash: null });
    const { browser } = await signIn('uma');
    expect(await register(browser)).toBe(409);
    expect((await browser.get(registrationPage)).body).toContain(byAdministrator);
  });

  it('SA-30 where the customer requires an app as well, the page says what to do', async () => {
    await demand('app');
    await addPerson('uma', {});
    await addPerson('uwe', { customers: ['acme', 'evil'], passwordHash: null });
    for (const [name, words] of [
      ['uma', byPasswordFirst],
      ['uwe', byAdministrator],
    ] as const) {
      const { browser, location, page } = await signIn(name);
      expect(page).toBe('/portal/twoFactorRegistration');
      expect((await browser.get(location)).body).toContain(words);
      expect([await register(browser), await who(browser)]).toEqual([409, null]);
    }
    await registerApp(portal, cookiesOf(await portal.signIn('uma', testPassword)));
  });

  it('SA-30 an app that was shown is not confirmed once the account has another way in', async () => {
    await addPerson('sam');
    const { browser } = await signIn('sam');
    expect(await register(browser)).toBe(200);
    await portal.sql`insert into membership select u.id, c.id from portal_user u, customer c where c.key = 'acme'`;
    await expect(registerApp(portal, browser.cookies)).rejects.toThrow();
    expect(await portal.sql`select from totp`).toHaveLength(0);
  });
});

describe('a person whose only way in is the provider sets up an app', () => {
  it('and it ends the sessions that the provider could have opened, no others', async () => {
    await addPerson('sam', { customers: ['acme', 'evil'] });
    const before = cookiesOf(await portal.signIn('sam', testPassword));
    // From now on they belong only to the customer, and have no password; the earlier session still exists.
    await portal.sql`update portal_user set password_hash = null`;
    await portal.sql`delete from membership where customer_id = (select id from customer where key = 'acme')`;
    const other = await signIn('sam');
    await registerApp(portal, (await signIn('sam')).browser.cookies);
    expect([await signedInAs(portal, before), await who(other.browser)]).toEqual(['sam', null]);
  });

  it('also if their password is unusable, since the domain requires single sign-on', async () => {
    await portal.sql`update sso_connection set required = true`;
    await demand('app');
    await addPerson('sam', {});
    await registerApp(portal, (await signIn('sam')).browser.cookies);
  });

  it('MF-12 after a code by email, if the customer required those before', async () => {
    await demand('email');
    for (const name of ['sam', 'uma']) {
      await addPerson(name, name === 'sam' ? { passwordHash: null } : {});
      const { browser } = await signIn(name);
      expect(verdict(await verify(portal, await codeByMail(portal, name), browser.cookies))).toBe(true);
    }
    await demand('app');
    const { browser, location } = await signIn('sam');
    expect(location).toMatch(/^\/portal\/twoFactor\?.*codeSentViaEmail=true/);
    expect(await register(browser)).toBe(409);
    const answer = await verify(portal, await codeByMail(portal, 'sam'), browser.cookies);
    const { cookies } = await registerApp(portal, { ...browser.cookies, ...cookiesOf(answer) });
    expect(await signedInAs(portal, cookies)).toBe('sam');
    // Nobody is sent a code where no app can be set up here.
    expect((await signIn('uma')).location).toMatch(/^\/portal\/twoFactorRegistration\?(?!.*codeSentViaEmail)/);
  });

  it('MF-12 not after a remembered device spared the code, unless a code is asked for on the way', async () => {
    await demand('email');
    await addPerson('alice');
    const { browser } = await signIn('alice');
    await browser.post(verifyUrl, { code: await codeByMail(portal, 'alice'), remember: 'on' });
    expect(await register(browser)).toBe(200);
    await portal.sql`delete from session`;
    const { 'vestibule-remembered': remembered = '' } = browser.cookies;
    browser.cookies = { 'vestibule-remembered': remembered };
    expect((await signIn('alice', {}, browser)).page).toBe('/portal/portal.html');
    expect(await register(browser)).toBe(409);
    const again = await signIn('alice', { redirectURL: '/portal/twoFactorRegistration' }, browser);
    expect(again.page).toBe('/portal/twoFactor');
  });

  it('SA-44 only if the provider authenticated them again, not just sent them back', async () => {
    await addPerson('sam');
    const signInAt = async (at: number, form = {}) => {
      const browser = browserForTest(portal);
      const url = await departFor(browser, 'sam@acme.test', form);
      const { key, entityId } = evil;
      const made = forger({ key, now: portal.deps.now(), entityId, acs, audience: ownEntityId, requestId: null });
      const authn = made.authn({ AuthnInstant: made.at(at) });
      const answer = samlAnswer(portal, evil, samlRequestAt(url), { email: 'sam@acme.test', authn });
      await postSamlAnswer(portal, browser, answer);
      const request = Buffer.from(new URL(url).searchParams.get('SAMLRequest') ?? '', 'base64');
      return { browser, isForced: inflateRawSync(request).toString().includes('ForceAuthn="true"') };
    };
    const old = await signInAt(-3600_000);
    expect([await register(old.browser), old.isForced]).toEqual([409, false]);
    expect((await old.browser.get(registrationPage)).body).toContain('Sign in again to continue');
    const fresh = await signInAt(0, { redirectURL: '/portal/twoFactorRegistration' });
    expect(fresh.isForced).toBe(true);
    await registerApp(portal, fresh.browser.cookies);
  });

  it('RC-08 a sign-in that waits for an app to be confirmed asks for its code', async () => {
    await addPerson('uma');
    const { cookies } = (await signIn('uma')).browser;
    const { totpSecret } = (await portal.send({ url: registrationUrl, cookies })).json<{ totpSecret: string }>();
    const browser = browserForTest(portal);
    const request = samlRequestAt(await departFor(browser, 'uma@acme.test'));
    const form = samlAnswer(portal, evil, request, { email: 'uma@acme.test' });
    const release = await holdRows(pool, (sql) => sql`select from session for update`);
    const confirming = verify(portal, codeNow(portal, totpSecret), cookies);
    await untilWaiting(pool, 1);
    const signingIn = postSamlAnswer(portal, browser, form);
    await Promise.race([signingIn, untilWaiting(pool, 2)]);
    await release();
    expect(verdict(await confirming)).toBe(true);
    expect(String((await signingIn).headers.location)).toContain('/twoFactor?');
    expect(await who(browser)).toBeNull();
  });
});
