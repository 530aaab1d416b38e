import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { endAnswersOfConnection } from '#server/storage/sso-request.ts';
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
  });

  it('pressed or loaded again, later, the page leads on whoever it has signed in, and nobody else', async () => {
    const location = await asked();
    await agree(location);
    portal.wait(limits.outcomeKept);
    expect((await agree(location)).headers.location).toBe('/portal/reports');
    expect((await browser.get(location)).headers.location).toBe('/portal/reports');
    expect((await agree(location, browserForTest(portal))).headers.location).toBe(expired);
    await signInByPassword('alice');
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

  it('SE-15 and with the other button: the next visit asks the provider for a fresh sign-in', async () => {
    const { location } = (await browser.get(await begin('alias@evil.test'))).headers;
    expect(location).toMatch(question);
    expect((await browser.get(String(location))).body).toContain('name="answer" value="no"');
    const asked = { ...browser.cookies };
    const no = { ...idIn(location), answer: 'no' };
    const stranger = browserForTest(portal);
    const decline = async (by: BrowserForTest) =>
      expect((await by.post('/portal/authenticate/other-account', no)).headers.location).toBe('/portal/login');
    await decline(stranger);
    expect((await browser.get(String(location))).statusCode).toBe(200);
    for (const _press of [1, 2]) await decline(browser);
    expect(new URL(await departFor(browser, 'mallory@evil.test')).searchParams.get('prompt')).toBe('login');
    // A response of before that is read late brings its cookies back.
    for (const cookies of [{}, asked]) {
      Object.assign(browser.cookies, cookies);
      expect((await agree(location)).headers.location).toBe(expired);
      expect(await who()).toBeNull();
    }
  });

  it.each(['alice', null])(
    'SE-15 that button ends what the first has opened, if its answer was not read, with %s signed in',
    async (here) => {
      if (here) await signInByPassword(here);
      const { location } = (await browser.get(await begin('alias@evil.test'))).headers;
      expect(location).toMatch(question);
      const unread = browserForTest(portal);
      Object.assign(unread.cookies, browser.cookies);
      await agree(location, unread);
      expect(await who(unread)).toBe('mallory');
      await browser.post('/portal/authenticate/other-account', { ...idIn(location), answer: 'no' });
      expect(await who(unread)).toBeNull();
      expect(await sessions()).toBe(0);
      expect((await browser.get(String(location))).headers.location).toBe(expired);
      await agree(location);
      expect(await who()).toBeNull();
    },
  );

  it.each([1, limits.questionOfAnswer, limits.ssoRequest])(
    'SE-15 that button asks for a fresh sign-in after %i ms, too',
    async (later) => {
      const { location } = (await browser.get(await begin('alias@evil.test'))).headers;
      portal.wait(later);
      await browser.post('/portal/authenticate/other-account', { ...idIn(location), answer: 'no' });
      expect(new URL(await departFor(browser, 'mallory@evil.test')).searchParams.get('prompt')).toBe('login');
    },
  );

  it('SE-15 left without an answer, it is followed by a fresh sign-in there, until somebody has signed in', async () => {
    const promptOf = async () => new URL(await departFor(browser, 'mallory@evil.test')).searchParams.get('prompt');
    await browser.get(await begin());
    expect(await who()).toBe('mallory');
    await portal.sql`delete from session`;
    expect(await promptOf()).toBeNull();
    const { location } = (await browser.get(await begin('alias@evil.test'))).headers;
    expect(location).toMatch(question);
    expect(await promptOf()).toBe('login');
    await agree(location);
    expect(await who()).toBe('mallory');
    await portal.sql`delete from session`;
    expect(await promptOf()).toBeNull();
  });

  it('SE-15 that button ends the questions in other tabs, too', async () => {
    const first = (await browser.get(await begin('alias@evil.test'))).headers.location;
    const second = (await browser.get(await begin('alias@evil.test'))).headers.location;
    await browser.post('/portal/authenticate/other-account', { ...idIn(second), answer: 'no' });
    expect((await agree(first)).headers.location).toBe(expired);
    expect(await who()).toBeNull();
  });

  it('SE-15 and what was agreed to there, if its answer was not read', async () => {
    const first = (await browser.get(await begin('alias@evil.test'))).headers.location;
    const second = (await browser.get(await begin('alias@evil.test'))).headers.location;
    const unread = browserForTest(portal);
    Object.assign(unread.cookies, browser.cookies);
    await agree(second, unread);
    expect(await who(unread)).toBe('mallory');
    await browser.post('/portal/authenticate/other-account', { ...idIn(first), answer: 'no' });
    await browser.get(String(second));
    await agree(second);
    expect(await who()).toBeNull();
  });

  it('SE-15 and when the browser closes: its cookie has no end of its own', async () => {
    const brought = await browser.open(await begin('alias@evil.test'));
    const { headers } = await browser.open(String(brought.headers.location));
    expect(headers.location).toMatch(question);
    const [own, ...more] = [headers['set-cookie']].flat().filter((cookie) => String(cookie).includes('-visit-'));
    expect([more, String(own)]).toEqual([[], expect.not.stringContaining('Max-Age')]);
  });

  it.each(['POST', 'GET'] as const)('SE-15 and with a second factor that is abandoned by %s', async (method) => {
    await portal.sql`update customer set two_factor = 'email' where key = 'acme'`;
    await signInByPassword('alice');
    const { location } = (await browser.get(await begin('alias@evil.test'))).headers;
    expect(location).toMatch(question);
    await browser.open('/portal/logout', { method, headers: { 'sec-fetch-site': 'same-origin' } });
    expect((await browser.get(String(location))).headers.location).toBe(expired);
    expect((await agree(location)).headers.location).toBe(expired);
    expect(await who()).toBeNull();
  });

  it.each([false, true])('SE-15 also if the response with the question was not read (%s)', async (isUnread) => {
    await portal.sql`update customer set two_factor = 'email' where key = 'acme'`;
    await signInByPassword('alice');
    const brought = await browser.open(await begin('alias@evil.test'));
    const reader = browserForTest(portal);
    Object.assign(reader.cookies, browser.cookies);
    const { location } = (await reader.open(String(brought.headers.location))).headers;
    expect(location).toMatch(question);
    await (isUnread ? browser : reader).post('/portal/logout', {});
    expect((await agree(location, reader)).headers.location).toBe(expired);
  });

  it('SA-42 a copy of its visit’s cookie, or of its own, ends no question', async () => {
    const location = await asked();
    for (const [name, value] of Object.entries(browser.cookies).filter(([name]) => name.includes('-visit-'))) {
      const thief = browserForTest(portal);
      Object.assign(thief.cookies, { [name]: value, 'vestibule-session': 'x'.repeat(43) });
      await thief.open('/portal/logout', { method: 'POST', headers: { accept: '*/*', 'sec-fetch-mode': 'cors' } });
      await thief.post('/portal/authenticate/other-account', { ...idIn(location), answer: 'no' });
    }
    await agree(location);
    expect(await who()).toBe('mallory');
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

  it('a late “no” ends no session but that of the account in question', async () => {
    const location = await asked();
    const no = async () =>
      await browser.post('/portal/authenticate/other-account', { ...idIn(location), answer: 'no' });
    portal.wait(limits.questionOfAnswer);
    await no();
    expect(await who()).toBe('alice');
    await portal.sql`update portal_user set username = 'mallory2' where username = 'mallory'`;
    await portal.sql`update portal_user set username = 'mallory' where username = 'alice'`;
    await no();
    expect(await who()).toBeNull();
  });

  it.each(['full', 'half'])(
    'SE-15 “no” ends a %s session of that account, though its sign-in has ended the question',
    async (stage) => {
      const { location } = (await browser.get(await begin('alias@evil.test'))).headers;
      expect(location).toMatch(question);
      if (stage === 'half') await portal.sql`update customer set two_factor = 'email' where key = 'evil'`;
      await signInByPassword('mallory');
      expect(await sessions()).toBe(1);
      const { headers } = await browser.post('/portal/authenticate/other-account', { ...idIn(location), answer: 'no' });
      expect(headers.location).toBe('/portal/login');
      expect(await sessions()).toBe(0);
      const form = await browser.get('/portal/login');
      expect([form.statusCode, form.body.includes('mallory')]).toEqual([200, false]);
    },
  );

  it('SE-15 once nobody knows any more about whom it was, “no” asks whoever is signed in whether to sign out', async () => {
    const { location } = (await browser.get(await begin('alias@evil.test'))).headers;
    await signInByPassword('mallory');
    await portal.sql`delete from sso_request`;
    const { headers } = await browser.post('/portal/authenticate/other-account', { ...idIn(location), answer: 'no' });
    expect(headers.location).toBe('/portal/logout?confirm=account');
    const inGerman = await browser.post('/portal/authenticate/other-account?lang=de', {
      ...idIn(location),
      answer: 'no',
    });
    expect(inGerman.headers.location).toBe('/portal/logout?confirm=account&lang=de');
    const { body } = await browser.get('/portal/logout?confirm=account');
    expect([body.includes('action="/portal/logout"'), body.includes('is signed in as mallory.')]).toEqual([true, true]);
    expect(await who()).toBe('mallory');
  });

  it.each(['yes', 'no'])(
    'SE-15 also about whoever is still signed in here, if another name was typed: %s',
    async (answer) => {
      await browser.get(await begin());
      expect(await who()).toBe('mallory');
      portal.wait(2000);
      const { location } = (await browser.get(await begin('eve@evil.test', '/portal/x'))).headers;
      expect(location).toMatch(question);
      const { body } = await browser.get(String(location));
      expect(body.match(/Continue as mallory/g)).toHaveLength(1);
      expect(body).toContain('name="answer" value="no"');
      if (answer === 'yes') {
        expect((await agree(location)).headers.location).toBe('/portal/x');
        return expect(await who()).toBe('mallory');
      }
      const left = await browser.post('/portal/authenticate/other-account', { ...idIn(location), answer: 'no' });
      expect(left.headers.location).toBe('/portal/login');
      expect((await browser.get('/portal/login')).statusCode).toBe(200);
      expect(await sessions()).toBe(0);
      expect(new URL(await departFor(browser, 'eve@evil.test')).searchParams.get('prompt')).toBe('login');
    },
  );

  describe('SE-15 once its connection has changed, nobody knows whose account it was, and “no”', () => {
    const decline = async (location: unknown) =>
      (await browser.post('/portal/authenticate/other-account', { ...idIn(location), answer: 'no' })).headers.location;
    const change = () =>
      portal.sql.begin(async (sql) => {
        const [row] = await sql<[{ id: string }]>`select id from sso_connection`;
        await endAnswersOfConnection(sql, row.id, portal.deps.now());
      });

    it('asks whoever is signed in', async () => {
      const { location } = (await browser.get(await begin('alias@evil.test'))).headers;
      await signInByPassword('mallory');
      await change();
      expect(await decline(location)).toBe('/portal/logout?confirm=account');
      expect(await who()).toBe('mallory');
    });

    it('ends a half session', async () => {
      const { location } = (await browser.get(await begin('alias@evil.test'))).headers;
      await portal.sql`update customer set two_factor = 'email' where key = 'evil'`;
      await signInByPassword('mallory');
      await change();
      expect(await decline(location)).toBe('/portal/login');
      expect(await sessions()).toBe(0);
    });

    it('ends what the other button has opened, if the browser has not read it', async () => {
      await signInByPassword('alice');
      await browser.post('/portal/logout', {});
      const { location } = (await browser.get(await begin('alias@evil.test'))).headers;
      await portal.send({
        method: 'POST',
        url: '/portal/authenticate/other-account',
        form: idIn(location),
        cookies: { ...browser.cookies },
      });
      expect(await sessions()).toBe(1);
      await change();
      expect(await decline(location)).toBe('/portal/login');
      expect(await sessions()).toBe(0);
    });
  });

  it('SE-15 “no” ends the turn, unless somebody else has come since: nothing that a tab has saved is left', async () => {
    const no = async () => {
      const { location } = (await browser.get(await begin('alias@evil.test'))).headers;
      expect(location).toMatch(question);
      return async () => await browser.post('/portal/authenticate/other-account', { ...idIn(location), answer: 'no' });
    };
    await browser.post('/portal/performlogin', { username: 'eve', password: 'wrong' });
    expect((await browser.get('/portal/login')).body).toContain('value="eve"');
    await (await no())();
    expect(browser.cookies['vestibule-signed-out']).toMatch(/^.{43}$/);
    expect((await browser.get('/portal/login')).body).not.toContain('value="eve"');
    const later = await no();
    await signInByPassword('alice');
    const before = browser.cookies['vestibule-signed-out'];
    expect((await later()).headers.location).toBe('/portal/logout?confirm=account');
    expect([await who(), browser.cookies['vestibule-signed-out']]).toEqual(['alice', before]);
  });

  it.each(['a session that is over', 'no session cookie'])(
    'SE-15 “no” whose response is lost ends the turn with the next page, in a browser with %s',
    async (left) => {
      await signInByPassword('alice');
      const cookies = { ...browser.cookies };
      portal.wait(13 * 3_600_000);
      if (left === 'no session cookie') delete cookies['vestibule-session'];
      browser.cookies = cookies;
      const { location } = (await browser.get(await begin('alias@evil.test'))).headers;
      expect(location).toMatch(question);
      const url = '/portal/authenticate/other-account';
      const no = { ...idIn(location), answer: 'no' };
      await portal.send({ method: 'POST', url, form: no, cookies: { ...browser.cookies } });
      await browser.get('/portal/login');
      expect(browser.cookies['vestibule-signed-out']).toMatch(/^.{43}$/);
      expect(new URL(await departFor(browser, 'eve@evil.test')).searchParams.get('prompt')).toBe('login');
    },
  );

  it('SE-15 “no” of a browser that was not asked notes nothing, so a copy of the marks ends no turn', async () => {
    await signInByPassword('alice');
    await browser.post('/portal/logout', {});
    const { location } = (await browser.get(await begin('alias@evil.test'))).headers;
    await portal.sql`delete from ended_session`;
    const copied = browserForTest(portal);
    for (const name of ['vestibule-signed-in', 'vestibule-signed-out'])
      copied.cookies[name] = browser.cookies[name] as string;
    for (const id of [idIn(location), { request: randomUUID() }])
      await copied.post('/portal/authenticate/other-account', { ...id, answer: 'no' });
    expect(await portal.sql`select from ended_session`).toEqual([]);
  });

  it('SE-15 visits that somebody began in other tabs end when another agrees to be who they are', async () => {
    const other = await begin('eve@evil.test', '/portal/eves-page');
    const { location } = (await browser.get(await begin('eve@evil.test'))).headers;
    await agree(location);
    expect(await who()).toBe('mallory');
    expect((await browser.get(other)).headers.location).not.toContain('eves-page');
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
