import { beforeEach, describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyDatabase } from '#testing/empty-tables.ts';
import { startForgedProvider } from '#testing/forged-openid-provider.ts';
import { testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import {
  addSamlConnection,
  crossSite,
  postSamlAnswer,
  samlAnswer,
  samlProvider,
  samlRequestAt,
} from '#testing/saml-sign-in-for-test.ts';
import { sharedByFile } from '#testing/shared-by-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  keepCookies,
  pathOf,
} from '#testing/sso-for-test.ts';
import { changeUser } from '../accounts/change-user.ts';

const portal = portalOfFile();
const provider = sharedByFile(() => startForgedProvider(portal.deps));

let browser: BrowserForTest;
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addCustomer(portal, 'evil');
  await addUser(portal, { username: 'alice' });
  await addUser(portal, { username: 'mallory', email: 'mallory@evil.test', customers: ['evil'] });
  await addUser(portal, { username: 'eve', email: 'eve@evil.test', customers: ['evil'] });
  await addOidcConnection(portal, provider, { key: 'evil', customerKey: 'evil', domains: ['evil.test'] });
  browser = browserForTest(portal);
  as('mallory@evil.test');
});

const as = (email: string) =>
  provider.bend({ claims: (honest) => ({ ...honest, sub: email, email, email_verified: true }) });
const begin = async (typed = 'mallory@evil.test', redirectURL = '/portal/reports') =>
  pathOf(provider.visit(await departFor(browser, typed, { redirectURL })));
const signInByPassword = (username: string) =>
  browser.post('/portal/performlogin', { username, password: testPassword });
const who = async ({ cookies } = browser) => await signedInAs(portal, cookies);
const question = /^\/portal\/authenticate\/other-account\?request=[\w-]{36}$/;
const expired = '/portal/singleSignOn?notice=signInExpired';
const idIn = (location: unknown) => ({ request: String(location).slice(-36) });
const agree = (location: unknown, by = browser) => by.post('/portal/authenticate/other-account', idIn(location));
const sessions = async () => (await portal.sql`select from session`).length;

/** Alice is signed in; mallory's answer ends a visit begun in another tab. */
async function asked(): Promise<string> {
  await signInByPassword('alice');
  const { location } = (await browser.get(await begin())).headers;
  expect(location).toMatch(question);
  return String(location);
}

describe('an answer for somebody else than is signed in here', () => {
  it('SE-15 asks first: the session stays, and the answer has no effect', async () => {
    const location = await asked();
    expect(await who()).toBe('alice');
    expect(await portal.sql`select from sso_subject`).toHaveLength(0);
    expect(await portal.sql`select from audit_event where event = 'signed-in' and username = 'mallory'`).toHaveLength(
      0,
    );
    const page = await browser.get(location);
    expect([page.statusCode, page.headers['cache-control']]).toEqual([200, 'no-store']);
    expect(page.body).toMatch(/Continue as .*alice.*Continue as .*mallory/s);
    expect(await who()).toBe('alice');
  });

  it('SE-15 the button on our own page signs in, at the visit’s destination', async () => {
    const location = await asked();
    const alices = { ...browser, cookies: { ...browser.cookies } };
    expect((await agree(location)).headers.location).toBe('/portal/reports');
    expect(await who()).toBe('mallory');
    expect(await who(alices)).toBeNull();
    expect(await sessions()).toBe(1);
    expect((await agree(location)).headers.location).toBe(expired);
  });

  it('SE-15 the button signs in nobody but the user whom the page names: if the address is another’s by now, it asks again', async () => {
    const location = await asked();
    portal.wait(limits.questionOfAnswer - 60_000);
    await changeUser(portal.sql, 'mallory', { email: 'm@evil.test' }, portal.deps.now());
    await changeUser(portal.sql, 'eve', { email: 'mallory@evil.test' }, portal.deps.now());
    expect((await agree(location)).headers.location).toBe(location);
    expect(await who()).toBe('alice');
    expect(await portal.sql`select from sso_subject`).toHaveLength(0);
    expect((await browser.get(location)).body).toMatch(/Continue as .*alice.*Continue as .*eve/s);
    expect((await agree(location)).headers.location).toBe('/portal/reports');
    expect(await who()).toBe('eve');
    const events = await portal.sql`
      select event, username from audit_event where event ~ '^account-change' order by id`;
    expect(events.map(({ event, username }) => `${event} ${username}`)).toEqual([
      'account-change-asked mallory',
      'account-change-agreed mallory',
      'account-change-asked eve',
      'account-change-agreed eve',
    ]);
  });

  it('SE-15 asked again like that, the question ends no later than the first one', async () => {
    const location = await asked();
    portal.wait(limits.questionOfAnswer - 60_000);
    await changeUser(portal.sql, 'mallory', { email: 'm@evil.test' }, portal.deps.now());
    await changeUser(portal.sql, 'eve', { email: 'mallory@evil.test' }, portal.deps.now());
    await agree(location);
    portal.wait(60_000);
    expect((await agree(location)).headers.location).toBe(expired);
    expect(await who()).toBe('alice');
  });

  it('SE-15 a user who is created only by the button is the one whom the page names', async () => {
    await portal.sql`update sso_connection set makes_users = true`;
    as('new@evil.test');
    const location = await asked();
    expect((await browser.get(location)).body).toMatch(/Continue as .*alice.*Continue as .*new@evil\.test/s);
    expect((await agree(location)).headers.location).toBe('/portal/reports');
    expect(await who()).toBe('new@evil.test');
  });

  it('CS-06 a button on another site does nothing', async () => {
    const location = await asked();
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    const url = '/portal/authenticate/other-account';
    expect((await browser.post(url, idIn(location), { headers })).statusCode).toBe(403);
    expect(await who()).toBe('alice');
  });

  it('SA-42 another browser is asked nothing and gets nothing', async () => {
    const location = await asked();
    const other = browserForTest(portal);
    const page = await other.get(location);
    expect([page.headers.location, page.body]).toEqual([expired, '']);
    expect((await agree(location, other)).headers.location).toBe(expired);
    expect(await who(other)).toBeNull();
    for (const request of ['x', '00000000-0000-4000-8000-000000000000'])
      expect((await browser.get(`/portal/authenticate/other-account?request=${request}`)).headers.location).toBe(
        expired,
      );
  });

  it('RC-04 an answer that is loaded again asks again', async () => {
    await signInByPassword('alice');
    const callback = await begin();
    const { location } = (await browser.get(callback)).headers;
    expect((await browser.get(callback)).headers.location).toBe(location);
    await agree(location);
    expect((await browser.get(callback)).headers.location).toBe('/portal/reports');
  });

  it('SE-15 the question ends with a sign-in, a sign-out, or its time limit', async () => {
    for (const end of [
      () => signInByPassword('alice'),
      () => browser.post('/portal/logout', {}),
      async () => portal.wait(limits.questionOfAnswer),
    ]) {
      const location = await asked();
      await end();
      expect((await browser.get(location)).headers.location).toBe(expired);
      expect((await agree(location)).headers.location).toBe(expired);
      expect(await who()).not.toBe('mallory');
    }
  });

  it('SA-42 is answered only by a browser that shows the token of its visit and that of the question', async () => {
    await signInByPassword('alice');
    await browser.post('/portal/logout', {});
    const email = 'mallory@evil.test';
    provider.bend({ claims: (honest) => ({ ...honest, sub: email, email, email_verified: true, auth_time: 1 }) });
    const { location } = (await browser.get(await begin())).headers;
    expect(location).toMatch(question);
    const visits = Object.entries(browser.cookies).filter(([name]) => name.includes('visit-'));
    expect(visits).toHaveLength(2);
    for (const copied of visits) {
      const elsewhere = browserForTest(portal);
      elsewhere.cookies = Object.fromEntries([copied]);
      expect((await agree(location, elsewhere)).headers.location).toBe(expired);
      expect(await who(elsewhere)).toBeNull();
    }
    expect((await agree(location)).headers.location).toBe('/portal/reports');
    expect(Object.keys(browser.cookies).filter((name) => name.includes('visit-'))).toEqual([]);
  });

  it('is answered also if its visit is the oldest of as many as a browser may have open', async () => {
    await signInByPassword('alice');
    const oldest = await begin();
    for (let number = 1; number < limits.visitsOfBrowser; number += 1) await begin();
    const { location } = (await browser.get(oldest)).headers;
    expect(location).toMatch(question);
    expect(Object.keys(browser.cookies).filter((name) => name.includes('visit-'))).toHaveLength(limits.visitsOfBrowser);
    expect((await agree(location)).headers.location).toBe('/portal/reports');
  });

  it('SE-15 a question whose response is read only after the sign-out signs nobody in', async () => {
    await signInByPassword('alice');
    const { location: finish } = (await browser.open(await begin())).headers;
    const late = await portal.send({ url: String(finish), cookies: { ...browser.cookies } });
    expect(late.headers.location).toMatch(question);
    await browser.post('/portal/logout', {});
    keepCookies(browser, late);
    for (const answer of [() => agree(late.headers.location), () => browser.get(String(late.headers.location))])
      expect((await answer()).headers.location).toBe(expired);
    expect(await who()).toBeNull();
    expect(await sessions()).toBe(0);
  });

  it('SE-15 nor once the session of the person who was asked has ended elsewhere', async () => {
    const location = await asked();
    await portal.sql`delete from session`;
    expect((await agree(location)).headers.location).toBe(location);
    expect((await browser.get(location)).headers.location).toBe(expired);
    expect(await sessions()).toBe(0);
  });

  it('later changes count: a connection switched off, a user no longer admitted', async () => {
    const first = await asked();
    await portal.sql`update sso_connection set active = false`;
    expect((await agree(first)).headers.location).toMatch(/^\/portal\/loginfail\/oidc/);
    await portal.sql`update sso_connection set active = true`;
    const second = await asked();
    await portal.sql`update portal_user set active = false where username = 'mallory'`;
    expect((await agree(second)).headers.location).toMatch(/^\/portal\/loginfail\/oidc/);
    expect(await who()).toBe('alice');
  });

  it('the second factor follows the confirmation', async () => {
    await portal.sql`update customer set two_factor = 'email' where key = 'evil'`;
    const location = await asked();
    expect(await who()).toBe('alice');
    expect((await agree(location)).headers.location).toContain('/portal/twoFactor');
  });

  it('SE-15 by SAML too', async () => {
    const acme = await samlProvider('idp.evil.test', portal.deps.now());
    await addSamlConnection(portal, acme, { key: 'saml', customerKey: 'evil', domains: ['saml.test'] });
    await addUser(portal, { username: 'sam', email: 'sam@saml.test', customers: ['evil'] });
    await signInByPassword('alice');
    const url = await departFor(browser, 'sam@saml.test');
    const answer = samlAnswer(portal, acme, samlRequestAt(url), { email: 'sam@saml.test' });
    const finish = String((await postSamlAnswer(portal, browser, answer)).headers.location);
    const { location } = (await browser.get(finish, crossSite)).headers;
    expect(location).toMatch(question);
    expect(await who()).toBe('alice');
    expect((await browser.get(finish, crossSite)).headers.location).toBe(location);
    await agree(location);
    expect(await who()).toBe('sam');
  });

  it('nobody is asked if the session is their own or there is none', async () => {
    expect((await browser.get(await begin())).headers.location).toBe('/portal/reports');
    expect((await browser.get(await begin())).headers.location).toBe('/portal/reports');
    await signInByPassword('mallory');
    expect((await browser.get(await begin())).headers.location).toBe('/portal/reports');
    expect(await sessions()).toBe(1);
  });

  it('OI-13 a second press lands where the first one led, in one session, if its response was lost', async () => {
    for (const twoFactor of ['off', 'email']) {
      await portal.sql`update customer set two_factor = ${twoFactor} where key = 'evil'`;
      const location = await asked();
      const before = { ...browser, cookies: { ...browser.cookies } };
      const press = { method: 'POST', url: '/portal/authenticate/other-account', form: idIn(location) } as const;
      const led = (await portal.send({ ...press, cookies: before.cookies })).headers.location;
      expect((await browser.get(location)).headers.location, 'loaded again').toBe(led);
      Object.assign(browser.cookies, before.cookies);
      expect((await agree(location)).headers.location).toBe(led);
      expect(await sessions()).toBe(1);
      if (twoFactor === 'off') expect(await who()).toBe('mallory');
      portal.wait(limits.outcomeKept);
      Object.assign(browser.cookies, before.cookies);
      expect((await agree(location)).headers.location).toBe(expired);
      await portal.sql`delete from session`;
    }
  });

  it('OI-13 ten presses at once make one session, and none of them fails', async () => {
    const location = await asked();
    const press = { method: 'POST', url: '/portal/authenticate/other-account', form: idIn(location) } as const;
    const { cookies } = browser;
    const answers = await Promise.all(Array.from({ length: 10 }, () => portal.send({ ...press, cookies })));
    const led = answers.map(({ headers }) => headers.location);
    expect(led).toContain('/portal/reports');
    expect(led.filter((one) => one !== '/portal/reports' && one !== location)).toEqual([]);
    expect((await browser.get(location)).headers.location).toBe('/portal/reports');
    expect([await sessions(), await who()]).toEqual([1, 'mallory']);
  });

  it('SE-15 it is bound to whoever was signed in: if that is another person by now, it asks anew', async () => {
    await addUser(portal, { username: 'bob', email: 'bob@acme.test' });
    const location = await asked();
    const { cookies } = await portal.signIn('bob', testPassword);
    for (const { name, value } of cookies) if (name === 'vestibule-session') browser.cookies[name] = value;
    expect((await agree(location)).headers.location).toBe(location);
    expect(await who()).toBe('bob');
    expect((await browser.get(location)).body).toMatch(/Continue as .*bob.*Continue as .*mallory/s);
    expect((await agree(location)).headers.location).toBe('/portal/reports');
    expect(await who()).toBe('mallory');
  });

  it('is recorded, and so is going on as the other', async () => {
    const events = async () =>
      await portal.sql`
        select event, username, connection, steps from audit_event where event like 'account-change-%' order by id`;
    const location = await asked();
    const steps = [{ step: 'signed in here', outcome: 'alice' }];
    const question = { event: 'account-change-asked', username: 'mallory', connection: 'evil', steps };
    expect(await events()).toEqual([question]);
    await agree(location);
    expect(await events()).toEqual([question, { ...question, event: 'account-change-agreed' }]);
  });
});
