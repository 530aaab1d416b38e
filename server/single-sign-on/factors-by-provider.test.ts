import { describe, expect, it } from 'vitest';
import { addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { poolOfFile } from '#test/support/portal-of-file.ts';
import { holdRows, untilWaiting } from '#test/support/rows-for-test.ts';
import { postSamlAnswer, samlAnswer, samlRequestAt, signInBySaml } from '#test/support/saml-for-test.ts';
import { type BrowserForTest, browserForTest, departFor } from '#test/support/sso-for-test.ts';
import { ssoOfFile } from '#test/support/sso-of-file.ts';
import {
  codeByMail,
  codeNow,
  giveApp,
  registerApp,
  registrationUrl,
  verdict,
  verify,
  verifyUrl,
  wrongCodes,
} from '#test/support/two-factor-for-test.ts';
import { unlockUser } from '../accounts/act-on-user.ts';
import { limits } from '../limits.ts';

const {
  portal,
  idps: { evil },
  who,
} = ssoOfFile({
  people: [],
  saml: { evil: { key: 'evil', customerKey: 'beta' } },
});
const pool = poolOfFile(portal);

/** A user at acme.test, of the evil provider's customer alone and without a password unless it is said. */
const addPerson = (username: string, more: { customers?: string[]; passwordHash?: null } = { passwordHash: null }) =>
  addUser(portal, { username, customers: ['beta'], ...more });
async function signIn(name: string, form: Record<string, string> = {}, browser = browserForTest(portal)) {
  const location = await signInBySaml(portal, evil, browser, { email: `${name}@acme.test`, form });
  return { browser, location, page: location.split('?')[0] };
}
const register = async ({ cookies }: BrowserForTest) =>
  (await portal.send({ url: registrationUrl, cookies, headers: { 'sec-fetch-site': 'same-origin' } })).statusCode;
const registrationPage = '/portal/twoFactorRegistration?destination=%2Fportal%2Fportal.html';
const demand = (twoFactor: string) => portal.sql`update customer set two_factor = ${twoFactor} where key = 'beta'`;
const byPasswordFirst = 'Sign in with your password or passkey once';
const byAdministrator = 'Your administrator can help';

describe('a provider sets up no app for a person with another way in', () => {
  it.each<[string, { customers?: string[]; passwordHash?: null }, string]>([
    ['a password', {}, byPasswordFirst],
    ['a password, of another customer too', { customers: ['acme', 'beta'] }, byPasswordFirst],
    ['another customer, without a password', { customers: ['acme', 'beta'], passwordHash: null }, byAdministrator],
  ])('SA-30 %s: nothing of theirs changes, and the page says what to do', async (_, more, words) => {
    await addPerson('uma', more);
    const { browser } = await signIn('uma');
    await expect(registerApp(portal, browser.cookies)).rejects.toThrow();
    expect([await register(browser), await who(browser)]).toEqual([409, 'uma']);
    expect((await browser.get(registrationPage)).body).toContain(words);
    await demand('app');
    const again = await signIn('uma');
    expect(again.page).toBe('/portal/twoFactorRegistration');
    expect((await again.browser.get(again.location)).body).toContain(words);
    expect([await register(again.browser), await who(again.browser)]).toEqual([409, null]);
    expect(await portal.sql`select from totp`).toHaveLength(0);
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

it('BF-11 LG-05 wrong codes after a provider lock no other way in until an operator ends the waits, and are recorded', async () => {
  await demand('app');
  await addPerson('uma', {});
  const secret = await giveApp(portal, 'uma');
  const { freeFailures } = limits.throttle.code;
  const byPassword = async () => {
    const half = cookiesOf(await portal.signIn('uma', testPassword));
    return verdict(await verify(portal, codeNow(portal, secret), half));
  };
  let looked = 0;
  for (let isOver = false; !isOver; ) {
    const { cookies } = (await signIn('uma')).browser;
    for (const code of wrongCodes(portal, secret, limits.codeTries)) {
      isOver = (await verify(portal, code, cookies)).statusCode === 429;
      if (isOver) break;
      looked += 1;
    }
  }
  expect([looked, await byPassword()]).toEqual([freeFailures, true]);
  const rows =
    await portal.sql`select connection, customer_key, username from audit_event where event = 'code-refused'`;
  expect(rows).toEqual(Array(freeFailures).fill({ connection: 'evil', customer_key: 'beta', username: 'uma' }));
  const right = async () =>
    verdict(await verify(portal, codeNow(portal, secret, 1), (await signIn('uma')).browser.cookies));
  expect(await right()).toEqual([429, null]);
  await unlockUser(portal.sql, 'uma', portal.by());
  expect(await right()).toBe(true);
});

it('BF-01 a browser known only through a provider has no attempts of its own, until its first password', async () => {
  await addPerson('uma', {});
  const deviceOf = ({ cookies }: BrowserForTest) => ({ 'vestibule-device': cookies['vestibule-device'] ?? '' });
  const { browser: known } = await signIn('uma');
  const before = deviceOf(known);
  await known.post('/portal/performlogin', { username: 'uma', password: testPassword });
  expect(deviceOf(known)).not.toEqual(before);
  for (let n = 0; n < limits.throttle.account.freeFailures; n += 1)
    await portal.signIn('uma', `guess ${n}`, { cookies: before, from: `192.0.2.${n + 1}` });
  const leadsTo = async (cookies: Record<string, string>) =>
    (await portal.signIn('uma', testPassword, { cookies })).headers.location;
  expect(await leadsTo(before)).not.toBe('/portal/portal.html');
  expect(await leadsTo(deviceOf(known))).toBe('/portal/portal.html');
});
