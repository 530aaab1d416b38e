import type { Response } from 'light-my-request';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyDatabase } from '#testing/empty-tables.ts';
import type { PortalForTest } from '#testing/portal-for-test.ts';
import { otherInstanceOfFile, portalOfFile } from '#testing/portal-of-file.ts';
import {
  addSamlConnection,
  crossSite,
  postSamlAnswer,
  type SamlProviderForTest,
  samlAnswer,
  samlProvider,
  samlRequestAt,
} from '#testing/saml-sign-in-for-test.ts';
import { type BrowserForTest, browserForTest, departFor, followLeavePage, lastFailure } from '#testing/sso-for-test.ts';

let acme: SamlProviderForTest;
const portal = portalOfFile();
const second = otherInstanceOfFile(portal);
beforeAll(async () => {
  acme = await samlProvider('idp.acme.test', portal.deps.now());
});

let attacker: BrowserForTest;
let victim: BrowserForTest;
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
  await addUser(portal, { username: 'mallory' });
  await addSamlConnection(portal, acme);
  attacker = browserForTest(portal);
  victim = browserForTest(portal);
});

const sessions = async () => (await portal.sql`select from session`).length;
const asking = /^\/portal\/authenticate\/continue\?connection=acme-saml$/;
const failed = /^\/portal\/loginfail\/saml(?:\?|$)/;
const asked = async (by: BrowserForTest, form: Record<string, string> = {}) =>
  samlRequestAt(await departFor(by, 'alice@acme.test', form));
/** What a victim's provider, where they are signed in, makes their browser post. */
const bring = (by: BrowserForTest, form: Record<string, string>, to: PortalForTest = portal) =>
  postSamlAnswer(to, by, form);
const open = (by: BrowserForTest, url: unknown, more: object = {}) => by.get(String(url), { ...crossSite, ...more });
const finishOf = (state: string) => `/portal/authenticate/saml/finish?state=${state}`;

describe('SA-42 an attacker begins, and a victim who is signed in at the provider brings the answer', () => {
  it('SA-42 nobody is signed in, whoever opens the end first and however often', async () => {
    for (const order of [
      [attacker, victim],
      [victim, attacker],
      [attacker, attacker, victim, victim, attacker],
    ]) {
      const request = await asked(attacker);
      await open(attacker, finishOf(request.state));
      const posted = await bring(victim, samlAnswer(portal, acme, request));
      for (const by of order) expect((await open(by, posted.headers.location)).headers.location).toMatch(failed);
      expect(await sessions()).toBe(0);
      expect((await attacker.get('/portal/session', { headers: { accept: 'application/json' } })).statusCode).toBe(401);
    }
  });

  it('SA-42 nor is anyone if both have an open visit, or the victim finishes at another instance', async () => {
    await asked(victim);
    const request = await asked(attacker);
    const posted = await bring(victim, samlAnswer(portal, acme, request), second);
    const url = String(posted.headers.location);
    for (const to of [portal, second]) {
      expect((await to.send({ url, cookies: attacker.cookies })).headers.location).toMatch(failed);
      expect((await to.send({ url, cookies: victim.cookies })).headers.location).toMatch(failed);
    }
    expect(await sessions()).toBe(0);
  });

  it('SA-42 the end’s address holds nothing unknown to the attacker, and the token is stored as a hash', async () => {
    const request = await asked(attacker);
    const posted = await bring(victim, samlAnswer(portal, acme, request));
    expect(posted.headers.location).toBe(`${finishOf(request.state)}#`);
    const [cookie, ...more] = posted.cookies;
    expect(more).toEqual([]);
    expect(cookie).toMatchObject({ path: '/', httpOnly: true, sameSite: 'Lax', maxAge: limits.answerWaits / 1000 });
    expect(cookie?.value).toMatch(/^[\w-]{43}$/);
    const [row] = await portal.sql`select * from visit`;
    expect(Buffer.from(row?.answer_hash)).toHaveLength(32);
    expect(JSON.stringify(row)).not.toContain(cookie?.value);
    expect(portal.logs()).not.toContain(cookie?.value);
  });

  it('SA-42 a forged token, one from another visit, or no cookie does not help the attacker', async () => {
    const own = await asked(attacker);
    const ownPosted = await bring(attacker, samlAnswer(portal, acme, own, { email: 'mallory@acme.test' }));
    const ownToken = ownPosted.cookies[0]?.value ?? '';
    const request = await asked(attacker);
    await bring(victim, samlAnswer(portal, acme, request));
    const name = `vestibule-answer-${request.state.slice(0, 8)}`;
    for (const token of [ownToken, 'A'.repeat(43), '', 'x']) {
      const cookies = { ...attacker.cookies, [name]: token };
      const { headers } = await portal.send({ url: finishOf(request.state), cookies });
      expect(headers.location).toMatch(failed);
    }
    expect(await sessions()).toBe(0);
  });

  it('SA-42 the answer is lost once the victim has been at the end, even for someone with the token', async () => {
    const request = await asked(attacker);
    const posted = await bring(victim, samlAnswer(portal, acme, request));
    const token = victim.cookies[`vestibule-answer-${request.state.slice(0, 8)}`] ?? '';
    await open(victim, posted.headers.location);
    expect((await lastFailure(portal))?.reason).toBe('other-browser');
    const cookies = { ...attacker.cookies, [`vestibule-answer-${request.state.slice(0, 8)}`]: token };
    expect((await portal.send({ url: finishOf(request.state), cookies })).headers.location).toMatch(failed);
    expect(await sessions()).toBe(0);
  });

  it('SA-42 a stranger with a forged token does not end another person’s visit', async () => {
    const request = await asked(victim);
    const posted = await bring(victim, samlAnswer(portal, acme, request));
    const cookies = { [`vestibule-answer-${request.state.slice(0, 8)}`]: 'A'.repeat(43) };
    const { headers } = await portal.send({ url: finishOf(request.state), cookies });
    expect(headers.location).toMatch(failed);
    expect((await open(victim, posted.headers.location)).headers.location).toBe('/portal/portal.html');
  });

  it('SA-42 posting another answer to an answered request gets no token of the first one', async () => {
    const request = await asked(victim);
    await bring(victim, samlAnswer(portal, acme, request));
    const posted = await bring(attacker, samlAnswer(portal, acme, request, { email: 'mallory@acme.test' }));
    expect(posted.headers.location).toMatch(failed);
    expect(posted.cookies.filter(({ name }) => name.includes('answer'))).toEqual([]);
  });

  it('SA-42 the victim sees a page with a next step, and nothing that the attacker typed or requested', async () => {
    const request = samlRequestAt(
      await departFor(attacker, 'mallory@acme.test', { redirectURL: '/portal/secret-plan' }),
    );
    const posted = await bring(victim, samlAnswer(portal, acme, request));
    const answer = await open(victim, posted.headers.location);
    const page = await victim.get(String(answer.headers.location));
    expect(page.statusCode).toBe(200);
    expect(page.body).toContain('href="/portal/singleSignOn"');
    expect(`${answer.headers.location}${page.body}`).not.toMatch(/secret-plan|mallory/);
  });

  it('SA-42 a victim who is signed in here stays signed in as themselves', async () => {
    const mine = await asked(victim);
    await open(victim, (await bring(victim, samlAnswer(portal, acme, mine))).headers.location);
    const request = await asked(attacker);
    await open(victim, (await bring(victim, samlAnswer(portal, acme, request))).headers.location);
    expect((await victim.get('/portal/session', { headers: { accept: 'application/json' } })).statusCode).toBe(200);
    expect(await sessions()).toBe(1);
  });
});

describe('the one browser that began and brought the answer', () => {
  const browser = () => victim;

  it('has two open visits, in two tabs: the first that returns signs in, and the other leads on in that session', async () => {
    const first = await asked(browser(), { redirectURL: '/portal/first' });
    const other = await asked(browser(), { redirectURL: '/portal/other' });
    const posted = await bring(browser(), samlAnswer(portal, acme, first));
    const otherPosted = await bring(browser(), samlAnswer(portal, acme, other));
    expect((await open(browser(), posted.headers.location)).headers.location).toBe('/portal/first');
    expect((await open(browser(), otherPosted.headers.location)).headers.location).toBe('/portal/other');
    expect(Object.keys(browser().cookies).filter((name) => name.includes('answer'))).toEqual([]);
    expect(await sessions()).toBe(1);
  });

  it('posts the same answer twice, before the end or after it, and is led on', async () => {
    const form = samlAnswer(portal, acme, await asked(browser(), { redirectURL: '/portal/reports' }));
    await bring(browser(), form);
    const again = await bring(browser(), form, second);
    expect((await open(browser(), again.headers.location)).headers.location).toBe('/portal/reports');
    const late = await bring(browser(), form);
    expect((await open(browser(), late.headers.location)).headers.location).toBe('/portal/reports');
    expect(await sessions()).toBe(1);
  });

  it('finishes at another instance than it posted to', async () => {
    const posted = await bring(browser(), samlAnswer(portal, acme, await asked(browser())), second);
    expect((await open(browser(), posted.headers.location)).headers.location).toBe('/portal/portal.html');
  });

  it('comes too late, or without one of its cookies, and gets a page that keeps name and destination', async () => {
    const wait = () => {
      for (const instance of [portal, second]) instance.wait(limits.answerWaits);
    };
    const lose = (name: RegExp) => {
      for (const cookie of Object.keys(browser().cookies)) if (name.test(cookie)) delete browser().cookies[cookie];
    };
    for (const spoil of [wait, () => lose(/answer/)]) {
      const posted = await bring(
        browser(),
        samlAnswer(portal, acme, await asked(browser(), { redirectURL: '/portal/reports' })),
      );
      spoil();
      const { location } = (await open(browser(), posted.headers.location)).headers;
      expect(location).toMatch(failed);
      expect(location).toContain('destination=%2Fportal%2Freports');
      expect((await lastFailure(portal))?.reason).toBe('request-unknown');
    }
    const posted = await bring(browser(), samlAnswer(portal, acme, await asked(browser())));
    lose(/visit/);
    expect((await open(browser(), posted.headers.location)).headers.location).toMatch(failed);
    expect(await sessions()).toBe(0);
  });

  it('ten at once over two instances make one session', async () => {
    const posted = await bring(browser(), samlAnswer(portal, acme, await asked(browser())));
    const { cookies } = browser();
    const url = String(posted.headers.location);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => (n % 2 ? portal : second).send({ url, cookies })),
    );
    expect(answers.filter(({ headers }) => headers.location === '/portal/portal.html')).toHaveLength(1);
    expect(await sessions()).toBe(1);
  });
});

describe('an answer that is refused where it is posted, without cookies', () => {
  const failedUrl = '/portal/authenticate/saml/failed?state=';
  const typed = 'alice@acme.test';
  const begin = async (by: BrowserForTest) =>
    samlRequestAt(await departFor(by, typed, { redirectURL: '/portal/reports' }));
  const wrong = { SAMLResponse: 'bm8=' };

  it('SA-42 returns the typed name and the destination to the browser that began, and the visit goes on', async () => {
    const request = await begin(victim);
    const { headers } = await bring(victim, { ...samlAnswer(portal, acme, request), ...wrong });
    expect(headers.location).toBe('/portal/loginfail/saml?destination=%2Fportal%2Freports');
    const page = await victim.get(String(headers.location));
    expect(page.body).toContain(typed);
    const [row] = await portal.sql`select reference from audit_event where event = 'sso-refused'`;
    expect(page.body).toContain(row?.reference);
    const posted = await bring(victim, samlAnswer(portal, acme, request));
    expect((await open(victim, posted.headers.location)).headers.location).toBe('/portal/reports');
  });

  it('SA-42 gives nothing to another browser, with its own visit or another refusal’s reference', async () => {
    const request = await begin(attacker);
    await asked(victim);
    const posted = await bring(victim, { ...samlAnswer(portal, acme, request), ...wrong });
    expect(posted.headers.location).toBe('/portal/loginfail/saml');
    expect((await victim.get('/portal/loginfail/saml')).body).not.toMatch(/reports|alice/);
    expect((await open(victim, failedUrl + request.state)).headers.location).toBe('/portal/loginfail/saml');
  });

  it('SE-15 gives nothing to the next person at the browser, nor to a visitor from a link', async () => {
    const request = await begin(victim);
    for (const state of ['', 'x', 'A'.repeat(43), request.state])
      expect((await open(victim, failedUrl + state)).headers.location).toBe('/portal/loginfail/saml');
    await bring(victim, { ...samlAnswer(portal, acme, request), ...wrong });
    await victim.post('/portal/logout', {});
    expect((await open(victim, failedUrl + request.state)).headers.location).toBe('/portal/loginfail/saml');
    const image = { headers: { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' } };
    expect((await victim.get(failedUrl + request.state, image)).statusCode).toBe(403);
  });
});

describe('an answer that nobody here asked for', () => {
  beforeEach(async () => {
    await portal.sql`delete from sso_connection`;
    await addSamlConnection(portal, acme, { mayBegin: true });
  });

  /** Clicks the button on the page that asks; returns what the provider is then asked. */
  const press = async (by: BrowserForTest, page: Response) => {
    const [, connection = ''] = /name="connection" value="([^"]+)"/.exec(page.body) ?? [];
    const [, action = ''] = /<form[^>]* action="([^"]+)"/.exec(page.body) ?? [];
    return samlRequestAt(await followLeavePage(by, await by.post(action, { connection })));
  };

  it('SA-26 signs in nobody: the portal asks whether to continue, and then asks the provider itself', async () => {
    const attackers = samlAnswer(portal, acme, null, { email: 'mallory@acme.test' });
    const begun = await open(victim, (await bring(victim, attackers)).headers.location);
    expect(begun.headers.location).toMatch(asking);
    const page = await open(victim, begun.headers.location);
    expect(page.statusCode).toBe(200);
    expect(page.body).toContain('Continue with Provider acme-saml');
    expect(`${await sessions()} ${(await portal.sql`select from visit where browser_hash is not null`).length}`).toBe(
      '0 0',
    );
    const request = await press(victim, page);
    expect(request.id).toMatch(/^_/);
    const posted = await bring(victim, samlAnswer(portal, acme, request, { email: 'alice@acme.test' }));
    expect((await open(victim, posted.headers.location)).headers.location).toBe('/portal/portal.html');
    expect((await victim.get('/portal/portal.html')).body).toContain('alice@acme.test');
  });

  it('SA-26 a provider that answers without asking replaces no one’s session with another person’s', async () => {
    const mine = await asked(victim);
    await open(victim, (await bring(victim, samlAnswer(portal, acme, mine))).headers.location);
    const attackers = samlAnswer(portal, acme, null, { email: 'mallory@acme.test' });
    const begun = await open(victim, (await bring(victim, attackers)).headers.location);
    // No address leads from here to the provider: the page does not refresh, and the browser has begun nothing.
    const page = await open(victim, begun.headers.location);
    expect(page.body).not.toMatch(/http-equiv="refresh"|\/authenticate\/leave/);
    expect(page.body).toContain('Continue as alice');
    expect(page.body).toMatch(/href="\/portal\/portal\.html"/);
    expect((await victim.get('/portal/portal.html')).body).toContain('alice@acme.test');
    expect(await sessions()).toBe(1);
    // Only the person can click: it needs our own page, and the session stays until the answer arrives.
    const form = { connection: 'acme-saml' };
    const foreign = await victim.post('/portal/authenticate/continue', form, crossSite);
    expect(foreign.statusCode).toBe(403);
    const request = await press(victim, page);
    expect((await victim.get('/portal/portal.html')).body).toContain('alice@acme.test');
    const posted = await bring(victim, samlAnswer(portal, acme, request, { email: 'mallory@acme.test' }));
    // It names another person than the one signed in, who stays so.
    const { location } = (await open(victim, posted.headers.location)).headers;
    expect(location).toContain('/portal/logout?confirm=account');
    expect((await victim.get('/portal/portal.html')).body).toContain('alice@acme.test');
  });

  it('SA-26 the page that asks may be loaded again, and exists for no other connection', async () => {
    await addSamlConnection(portal, acme, { key: 'other', domains: ['other.test'] });
    const url = '/portal/authenticate/continue?connection=';
    for (let n = 0; n < 2; n += 1) expect((await victim.get(`${url}acme-saml`)).statusCode).toBe(200);
    for (const key of ['other', 'none', '', '%00'])
      expect((await victim.get(url + key)).headers.location, key).toBe('/portal/singleSignOn');
    const pressed = await victim.post('/portal/authenticate/continue', { connection: 'other' });
    expect(pressed.headers.location).toBe('/portal/singleSignOn');
    expect(await portal.sql`select from visit`).toHaveLength(0);
  });

  it('SA-26 leaves the browser’s session unchanged', async () => {
    const mine = await asked(victim);
    await open(victim, (await bring(victim, samlAnswer(portal, acme, mine))).headers.location);
    await open(victim, (await bring(victim, samlAnswer(portal, acme, null))).headers.location);
    expect((await victim.get('/portal/portal.html')).body).toContain('alice@acme.test');
    expect(await sessions()).toBe(1);
  });

  it('SA-42 leads on only in the browser that brought it, though everyone may know the address', async () => {
    const posted = await bring(victim, samlAnswer(portal, acme, null));
    expect((await open(attacker, posted.headers.location)).headers.location).toMatch(failed);
    expect((await open(victim, posted.headers.location)).headers.location).toMatch(asking);
    expect((await open(victim, posted.headers.location)).headers.location).toMatch(failed);
    expect(await sessions()).toBe(0);
  });

  it('of two providers with the same assertion ID leads each to its own', async () => {
    const beta = await samlProvider('idp.beta.test', portal.deps.now());
    await addSamlConnection(portal, beta, { key: 'beta-saml', domains: ['beta.test'], mayBegin: true });
    const one = await bring(victim, samlAnswer(portal, acme, null, { id: '_same' }));
    const other = await bring(victim, samlAnswer(portal, beta, null, { id: '_same' }));
    expect((await open(victim, other.headers.location)).headers.location).toContain('connection=beta-saml');
    expect((await open(victim, one.headers.location)).headers.location).toMatch(asking);
  });

  it('posted twice leads where one post leads; too late it leads to a page with a next step', async () => {
    const form = samlAnswer(portal, acme, null);
    await bring(victim, form);
    const again = await bring(victim, form);
    expect((await open(victim, again.headers.location)).headers.location).toMatch(asking);
    const posted = await bring(attacker, samlAnswer(portal, acme, null));
    portal.wait(limits.answerWaits);
    expect((await open(attacker, posted.headers.location)).headers.location).toMatch(failed);
  });
});
