import { beforeEach, describe, expect, it } from 'vitest';
import { limits, minute } from '#server/limits.ts';
import { type ForgedProvider, startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { otherInstanceOfFile, portalOfFile, sharedByFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import { runsAll } from '#test/support/runs-all.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  followLeavePage,
  lastFailure,
  pathOf,
} from '#test/support/sso-for-test.ts';

const portal = portalOfFile();
const second = otherInstanceOfFile(portal);
const acme = sharedByFile(() => startForgedProvider(portal.deps));
const beta = sharedByFile(() => startForgedProvider(portal.deps));

let browser: BrowserForTest;
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addCustomer(portal, 'beta');
  await addUser(portal, { username: 'alice' });
  await addUser(portal, { username: 'bob', email: 'bob@beta.test', customers: ['beta'] });
  await addOidcConnection(portal, acme);
  await addOidcConnection(portal, beta, { key: 'beta-oidc', customerKey: 'beta', domains: ['beta.test'] });
  acme.bend(says({}));
  beta.bend(says({ sub: 'subject of bob', email: 'bob@beta.test' }));
  browser = browserForTest(portal);
});

/** Both instances share one clock. */
function wait(time: number): void {
  portal.wait(time);
  second.wait(time);
}

const says = (claims: object) => ({ claims: (honest: object) => ({ ...honest, email: 'alice@acme.test', ...claims }) });
const failed = /^\/portal\/loginfail\/oidc(?:[?#]|$)/;
const sessions = async () => (await portal.sql`select from session where stage = 'full'`).length;

/** Signs in from the form to the provider and back; returns the answer to the callback. */
async function signInAt(provider: ForgedProvider, username?: string, form?: Record<string, string>) {
  const callback = provider.visit(await departFor(browser, username, form));
  return await browser.get(pathOf(callback));
}

async function expectRefused(answer: { headers: Record<string, unknown> }, reason: string): Promise<void> {
  expect(answer.headers.location).toMatch(failed);
  expect((await lastFailure(portal))?.reason).toBe(reason);
  expect(await sessions()).toBe(0);
}

describe('who presses cancel', () => {
  it.each(['access_denied', 'consent_required'])('does not hear of a typo (%s), and may continue', async (error) => {
    acme.bend({
      callback: (parameters) => {
        parameters.delete('code');
        parameters.set('error', error);
      },
    });
    const answer = await signInAt(acme, undefined, { redirectURL: '/portal/reports' });
    expect(answer.headers.location).toBe(
      '/portal/loginfail/oidc?notice=signInCancelled&destination=%2Fportal%2Freports',
    );
    const page = (await browser.get(String(answer.headers.location))).body;
    expect(page).toContain('It was cancelled, or access wasn’t granted there.');
    expect(page).not.toContain('typo');
    expect(page).toContain('href="/portal/singleSignOn');
    expect((await lastFailure(portal))?.reason).toBe('provider-refused');
  });

  it('is still the provider’s failure: its other errors show what may be wrong', async () => {
    acme.bend({ callback: (parameters) => parameters.set('error', 'server_error') });
    const answer = await signInAt(acme);
    expect(answer.headers.location).toBe('/portal/loginfail/oidc');
    expect((await browser.get('/portal/loginfail/oidc')).body).toContain('typo');
  });
});

describe('the way in', () => {
  it('leads from the form over a page of ours to the provider and back to the destination, including the fragment', async () => {
    const answer = await signInAt(acme, undefined, { redirectURL: '/portal#/reports/7' });
    expect(answer.statusCode).toBe(303);
    expect(answer.headers.location).toBe('/portal#/reports/7');
    const page = await browser.get('/portal/portal.html');
    expect(page.body).toContain('alice@acme.test');
    const [event] =
      await portal.sql`select event, connection, customer_key, username from audit_event where event = 'signed-in'`;
    expect(event).toEqual({ event: 'signed-in', connection: 'acme-oidc', customer_key: 'acme', username: 'alice' });
  });

  it('the page that leads on may post only to us', async () => {
    const pressed = await browser.post('/portal/authenticate/performSsoLogin', { username: 'alice@acme.test' });
    const page = await browser.get(String(pressed.headers.location));
    expect(page.body).toContain('http-equiv="refresh"');
    expect(page.headers['content-security-policy']).toContain("; form-action 'self'; ");
  });

  it('sends the typed address as a hint, and uses PKCE, state and nonce', async () => {
    const asked = new URL(await departFor(browser)).searchParams;
    expect(asked.get('login_hint')).toBe('alice@acme.test');
    expect(asked.get('redirect_uri')).toBe('http://localhost:8080/portal/authenticate/oidc/callback/acme-oidc');
    expect(asked.get('code_challenge_method')).toBe('S256');
    expect(asked.get('state')).toMatch(/^[\w-]{43}$/);
    expect(asked.get('nonce')?.length).toBeGreaterThan(20);
  });

  it('needs no typing the second time: the browser remembers the connection', async () => {
    const asked = await browser.post('/portal/authenticate/checkSsoLogin', {});
    expect(asked.headers.location).toBe('/portal/singleSignOn');
    await signInAt(acme);
    const again = await browser.post('/portal/authenticate/checkSsoLogin', { redirectURLSSO: '/portal/reports' });
    const callback = acme.visit(await followLeavePage(browser, again));
    expect((await browser.get(pathOf(callback))).headers.location).toBe('/portal/reports');
  });

  it('a remembered connection that is forged or disabled leads to the form', async () => {
    browser.cookies['vestibule-connection'] = 'A'.repeat(80);
    expect((await browser.post('/portal/authenticate/checkSsoLogin', {})).headers.location).toBe(
      '/portal/singleSignOn',
    );
    await signInAt(acme);
    await portal.sql`update sso_connection set active = false`;
    expect((await browser.post('/portal/authenticate/checkSsoLogin', {})).headers.location).toBe(
      '/portal/singleSignOn',
    );
  });

  it('a remembered connection is forgotten when it fails, and the failure page leads to the form', async () => {
    await signInAt(acme);
    await browser.post('/portal/logout', {});
    acme.bend({ callback: (parameters) => parameters.set('error', 'access_denied') });
    const pressed = await browser.post('/portal/authenticate/checkSsoLogin', {});
    const answer = await browser.get(pathOf(acme.visit(await followLeavePage(browser, pressed))));
    expect((await browser.get(String(answer.headers.location))).body).toContain('href="/portal/singleSignOn');
    const again = await browser.post('/portal/authenticate/checkSsoLogin', {});
    expect(again.headers.location).toBe('/portal/singleSignOn');
  });

  it('the page that leads on, opened later, leads on whoever is signed in, or to the form with the reader’s own entries', async () => {
    const form = { username: 'alice@acme.test', redirectURL: '/portal/reports' };
    const pressed = await browser.post('/portal/authenticate/performSsoLogin', form);
    const leave = String(pressed.headers.location);
    const callback = acme.visit(await followLeavePage(browser, pressed));
    await browser.get(pathOf(callback));
    expect((await browser.get(leave)).headers.location).toBe('/portal/portal.html');
    await browser.post('/portal/logout', {});
    for (const by of [browser, browserForTest(portal)]) {
      const answer = await by.get(leave);
      expect(answer.headers.location).toBe('/portal/singleSignOn?notice=signInExpired');
      expect((await by.get(String(answer.headers.location))).body).not.toContain('alice@acme.test');
    }
    const late = String((await browser.post('/portal/authenticate/performSsoLogin', form)).headers.location);
    const stranger = await browserForTest(portal).get(late);
    expect(stranger.headers.location).toBe('/portal/singleSignOn?notice=cookiesNeeded');
    wait(30 * minute);
    const answer = await browser.get(late);
    expect(answer.headers.location).toBe('/portal/singleSignOn?notice=signInExpired&destination=%2Fportal%2Freports');
    expect((await browser.get(String(answer.headers.location))).body).toContain('alice@acme.test');
  });

  it('an unacceptable destination becomes the default one and is recorded', async () => {
    await departFor(browser, undefined, { redirectURL: '//evil.example' });
    expect(await portal.sql`select from audit_event where event = 'destination-refused'`).toHaveLength(1);
  });

  it('EN-08 unknown and known people of a domain get the same answer, and go to the same provider', async () => {
    const asked = async (username: string) => {
      const own = browserForTest(portal);
      const answer = await own.post('/portal/authenticate/performSsoLogin', { username });
      const there = new URL(await followLeavePage(own, answer));
      const names = [...there.searchParams.keys()].sort();
      const location = String(answer.headers.location).replace(/visit=[\w-]+/, 'visit=');
      return { status: answer.statusCode, location, to: there.origin + there.pathname, names };
    };
    const known = await asked('alice@acme.test');
    expect(known.to).toContain(acme.issuer);
    expect(await asked('nobody@acme.test')).toEqual(known);
    expect(await asked(`${'x'.repeat(60)}@acme.test`)).toEqual(known);
    // Without an address it depends on the browser alone: nobody can ask about somebody else.
    const pressed = async () =>
      (await browserForTest(portal).post('/portal/authenticate/checkSsoLogin', { username: 'alice@acme.test' })).headers
        .location;
    expect(await pressed()).toBe('/portal/singleSignOn');
  });

  it('EN-09 an unknown domain and one of a customer without single sign-on get the same answer, which lists nobody', async () => {
    await addUser(portal, { username: 'plain', email: 'plain@plain.test' });
    const asked = async (username: string) => {
      const own = browserForTest(portal);
      const answer = await own.post('/portal/authenticate/performSsoLogin', { username });
      const { body, statusCode } = await own.get(String(answer.headers.location));
      const shown = body.replaceAll(/[A-Z0-9]{4}-[A-Z0-9]{4}/g, 'REFERENCE').replaceAll(username, 'TYPED');
      return { status: answer.statusCode, location: answer.headers.location, page: statusCode, shown };
    };
    const nowhere = await asked('plain@nowhere.test');
    expect(nowhere.location).toBe('/portal/loginfail/oidc');
    expect(await asked('plain@plain.test')).toEqual(nowhere);
    for (const secret of ['acme', 'Acme', 'beta', 'Provider']) expect(nowhere.shown).not.toContain(secret);
  });

  it.each(['alice', ' ', 'a b@acme.test', '<i>@', ''])(
    '%j is not an address: the form again, with what was typed and the destination',
    async (username) => {
      const url = '/portal/authenticate/performSsoLogin?lang=de';
      const answer = await browser.post(url, { username, redirectURL: '/portal/portal.html?tab=2' });
      expect(answer.statusCode).toBe(400);
      expect(answer.body).toContain(`value="${username.trim().replace('<', '&lt;').replace('>', '&gt;')}"`);
      expect(answer.body).toContain('id="email-error"');
      expect(answer.body).toContain('name="redirectURL" value="/portal/portal.html?tab=2"');
      expect(answer.body).toContain('<html lang="de"');
      expect(await portal.sql`select from visit`).toHaveLength(0);
    },
  );

  it('a disabled connection leads to its own failure page', async () => {
    await portal.sql`update sso_connection set active = false`;
    const answer = await browser.post('/portal/authenticate/performSsoLogin', { username: 'alice@acme.test' });
    await expectRefused(answer, 'connection-disabled');
  });

  it('two connections of a domain are offered as a choice, without the address in the URL', async () => {
    await addOidcConnection(portal, beta, { key: 'acme-other', name: 'The other one' });
    const answer = await browser.post('/portal/authenticate/performSsoLogin', { username: 'alice@acme.test' });
    expect(answer.headers.location).toBe('/portal/singleSignOn?notice=chooseConnection');
    const page = await browser.get(String(answer.headers.location));
    expect(page.body).toContain('The other one');
    expect(page.body).toContain('Provider acme-oidc');
    expect(page.body).toContain('For the account alice@acme.test');
    const url = await departFor(browser, 'alice@acme.test', { connection: 'acme-other' });
    expect(url).toContain(beta.issuer);
  });

  it('a connection of another domain cannot be chosen', async () => {
    const url = await departFor(browser, 'alice@acme.test', { connection: 'beta-oidc' });
    expect(url).toContain(acme.issuer);
  });

  it('too many visits from one address have to wait', async () => {
    const begin = () => browser.post('/portal/authenticate/checkSsoLogin', {});
    expect((await begin()).statusCode).toBe(303);
    const callback = acme.visit(await departFor(browser));
    await portal.sql`update throttle set failures = ${limits.throttle.address.freeFailures * 20} where key like 'sso-%'`;
    await begin();
    const answer = await begin();
    expect(answer.statusCode).toBe(429);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    // Failed answers are counted separately.
    await portal.sql`
      insert into throttle (key, failures, changed_at, blocked_until, admitted)
      select replace(key, 'sso-', 'answer-'), failures, changed_at, blocked_until, true from throttle where key like 'sso-%'`;
    const stray = await browser.get(`/portal/authenticate/oidc/callback/acme-oidc?code=x&state=${'x'.repeat(43)}`);
    expect(stray.statusCode).toBe(429);
    expect(await portal.sql`select from visit where used_at is null`).toHaveLength(1);
    expect(await portal.sql`select from audit_event where reason = 'request-unknown'`).toHaveLength(0);
    expect(portal.logs()).not.toMatch(/"level":[456]0/);
    // A person already on the way gets in.
    expect((await browser.get(pathOf(callback))).headers.location).toBe('/portal/portal.html');
    expect(await portal.sql`select from audit_event where reason = 'throttled'`).toHaveLength(1);
  });
});

describe('the answer belongs to one visit of one browser', () => {
  it('OI-01 an answer without state, with a wrong one, or with two is refused', async () => {
    const callback = acme.visit(await departFor(browser));
    const state = callback.searchParams.get('state') as string;
    const without = new URL(callback);
    without.searchParams.delete('state');
    const refused = await browser.get(pathOf(without));
    await expectRefused(refused, 'request-unknown');
    // It may be in the fragment, which the next address replaces.
    expect(refused.headers.location).toMatch(/#$/);
    const wrong = new URL(callback);
    wrong.searchParams.set('state', `${state.slice(0, -1)}${state.endsWith('A') ? 'B' : 'A'}`);
    await expectRefused(await browser.get(pathOf(wrong)), 'request-unknown');
    const cut = new URL(callback);
    cut.searchParams.set('state', state.slice(0, -1));
    await expectRefused(await browser.get(pathOf(cut)), 'request-unknown');
    const twice = new URL(callback);
    twice.searchParams.append('state', state);
    await expectRefused(await browser.get(pathOf(twice)), 'request-unknown');
    expect((await browser.get(pathOf(callback))).headers.location).toBe('/portal/portal.html');
  });

  it("OI-01 another browser's state is refused, with a visit of its own and without", async () => {
    const other = browserForTest(portal);
    for (const isVisiting of [false, true]) {
      if (isVisiting) await departFor(other);
      const callback = acme.visit(await departFor(browser));
      await expectRefused(await other.get(pathOf(callback)), 'other-browser');
    }
  });

  it('OI-01 an expired state is refused', async () => {
    const callback = acme.visit(await departFor(browser));
    wait(30 * minute);
    await expectRefused(await browser.get(pathOf(callback)), 'request-unknown');
  });

  it('OI-02 an answer of one provider to a visit to another is refused; both may be open at once', async () => {
    const atAcme = acme.visit(await departFor(browser));
    const atBeta = beta.visit(await departFor(browser, 'bob@beta.test'));
    const mixed = new URL(atAcme);
    mixed.searchParams.set('code', atBeta.searchParams.get('code') as string);
    await expectRefused(await browser.get(pathOf(mixed)), 'answer-invalid');
    expect((await browser.get(pathOf(atBeta))).headers.location).toBe('/portal/portal.html');
  });

  it('OI-13 RC-04 an answer loaded again leads on, and signs in nobody again', async () => {
    const callback = acme.visit(await departFor(browser, undefined, { redirectURL: '/portal/reports' }));
    expect((await browser.get(pathOf(callback))).headers.location).toBe('/portal/reports');
    const token = browser.cookies['vestibule-session'];
    expect((await browser.get(pathOf(callback))).headers.location).toBe('/portal/reports');
    expect(browser.cookies['vestibule-session']).toBe(token);
    expect(await sessions()).toBe(1);
    await browser.post('/portal/logout', {});
    await expectRefused(await browser.get(pathOf(callback)), 'request-unknown');
  });

  it('OI-13 RC-04 ten at once over two instances make one session, twenty times', async () => {
    acme.requests.length = 0;
    for (let round = 0; round < (runsAll ? 20 : 2); round += 1) {
      await portal.sql`delete from session`;
      const callback = pathOf(acme.visit(await departFor(browser)));
      const { cookies } = browser;
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, n) => (n % 2 ? portal : second).send({ url: callback, cookies })),
      );
      expect(answers.filter(({ headers }) => headers.location === '/portal/portal.html')).toHaveLength(1);
      expect(await sessions()).toBe(1);
      expect(acme.requests.filter((path) => path === '/token')).toHaveLength(round + 1);
    }
  });

  it("OI-14 an attacker's code in a victim's visit is refused: the verifier differs", async () => {
    const attackers = acme.visit(await departFor(browserForTest(portal)));
    const callback = acme.visit(await departFor(browser));
    callback.searchParams.set('code', attackers.searchParams.get('code') as string);
    await expectRefused(await browser.get(pathOf(callback)), 'answer-invalid');
  });

  it("OI-28 another site's page cannot begin a visit, and a link to the callback signs in nobody", async () => {
    const foreign = { headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' } };
    const begun = await browser.post('/portal/authenticate/performSsoLogin', { username: 'alice@acme.test' }, foreign);
    expect(begun.statusCode).toBe(403);
    for (const [call, screen] of [
      ['performSsoLogin', 'singleSignOn'],
      ['checkSsoLogin', 'login'],
    ] as const) {
      const linked = await browser.get(`/portal/authenticate/${call}?username=alice@acme.test`);
      expect(linked.headers.location).toBe(`/portal/${screen}`);
    }
    expect(await portal.sql`select from visit`).toHaveLength(0);
  });

  it('a HEAD of the callback consumes nothing', async () => {
    const callback = pathOf(acme.visit(await departFor(browser)));
    await browser.get(callback, { method: 'HEAD' });
    expect((await browser.get(callback)).headers.location).toBe('/portal/portal.html');
  });
});

describe('whom a provider may speak for', () => {
  it('OI-16 a provider that sends an address of another domain signs in nobody, and it is recorded', async () => {
    acme.bend(says({ sub: 'subject of bob', email: 'bob@beta.test' }));
    await expectRefused(await signInAt(acme), 'foreign-domain');
  });

  it('OI-16 an address of its own domain that belongs to a user of another customer finds nobody', async () => {
    await addUser(portal, { username: 'mallory', email: 'mallory@acme.test', customers: ['beta'] });
    acme.bend(says({ sub: 'm', email: 'mallory@acme.test' }));
    await expectRefused(await signInAt(acme), 'unknown-user');
  });

  it('OI-17 an unverified address links nobody, unless the operator trusts the provider', async () => {
    for (const claim of [{ email_verified: false }, { email_verified: undefined }, { email_verified: 'yes' }]) {
      acme.bend(says(claim));
      await expectRefused(await signInAt(acme), 'unverified-email');
    }
    await portal.sql`update sso_connection set trusts_email = true`;
    expect((await signInAt(acme)).headers.location).toBe('/portal/portal.html');
  });

  it('OI-18 an ambiguous address finds nobody', async () => {
    const twoWays = [
      'alice@acme.test@acme.test',
      'alice＠acme.test',
      'alice@acme.test.',
      ' alice@acme.test',
      'alice@acme.test ',
      'alice@ａcme.test',
      'alice@acme.test\u200b',
      'ａlice@acme.test',
      '"alice"@acme.test',
      'alice@acme.test,bob@beta.test',
    ];
    for (const email of twoWays) {
      acme.bend(says({ email }));
      const answer = await signInAt(acme);
      expect(answer.headers.location, email).toMatch(failed);
      expect((await lastFailure(portal))?.reason, email).toMatch(/^(?:unknown-user|foreign-domain)$/);
    }
    expect(await sessions()).toBe(0);
  });

  it('OI-18 upper case finds only the same person, as on the sign-in form (decisions §7)', async () => {
    acme.bend(says({ email: 'Alice@ACME.test' }));
    expect((await signInAt(acme)).headers.location).toBe('/portal/portal.html');
    const [row] = await portal.sql`select username from portal_user u join session s on s.user_id = u.id`;
    expect(row?.username).toBe('alice');
  });

  it('OI-19 the preferred name of a stranger is never looked up', async () => {
    await addUser(portal, { username: 'admin', email: 'root@acme.test' });
    const stranger = { sub: 'x', email: undefined, preferred_username: 'admin' };
    acme.bend({ ...says(stranger), userInfo: () => stranger });
    await expectRefused(await signInAt(acme), 'unknown-user');
  });

  it("SA-45 an address that is someone's username finds nobody, and of several none is used", async () => {
    await addUser(portal, { username: 'boss@acme.test', email: 'carol@acme.test' });
    acme.bend(says({ sub: 'b', email: 'boss@acme.test' }));
    await expectRefused(await signInAt(acme), 'unknown-user');
    expect(JSON.stringify((await lastFailure(portal))?.steps)).toContain('is the username of boss@acme.test');
    acme.bend(says({ sub: 'b', email: ['alice@acme.test', 'boss@acme.test'] }));
    await expectRefused(await signInAt(acme), 'unknown-user');
    expect((await lastFailure(portal))?.steps.at(-1)?.outcome).toContain('sends several email addresses');
  });

  it('OI-20 the subject of a removed user finds nobody', async () => {
    await signInAt(acme);
    await portal.sql`delete from portal_user where username = 'alice'`;
    await expectRefused(await signInAt(acme), 'unknown-user');
    const id = await addUser(portal, { username: 'alice' });
    await signInAt(acme);
    const [row] = await portal.sql`select user_id from session`;
    expect(row?.user_id).toBe(id);
  });

  it('once linked, the subject counts: a new address changes nothing, a new subject is refused', async () => {
    await signInAt(acme);
    await portal.sql`delete from session`;
    acme.bend(says({ email: 'new-name@acme.test' }));
    expect((await signInAt(acme)).headers.location).toBe('/portal/portal.html');
    await portal.sql`delete from session`;
    acme.bend(says({ sub: 'somebody new' }));
    await expectRefused(await signInAt(acme), 'other-subject');
  });

  it('an unknown person ends on the failure page with a reference, or is created if the connection allows', async () => {
    acme.bend(says({ sub: 'new', email: 'carol@acme.test', locale: 'de-AT' }));
    const answer = await signInAt(acme, 'carol@acme.test');
    await expectRefused(answer, 'unknown-user');
    const page = await browser.get(String(answer.headers.location));
    expect(page.body).toMatch(/[0-9A-Z]{4}-[0-9A-Z]{4}/);
    await portal.sql`update sso_connection set makes_users = true`;
    expect((await signInAt(acme, 'carol@acme.test')).headers.location).toBe('/portal/portal.html');
    const [user] = await portal.sql`
      select username, email, language, password_hash, may_change_password from portal_user where email = 'carol@acme.test'`;
    expect(user).toEqual({
      username: 'carol@acme.test',
      email: 'carol@acme.test',
      language: 'de',
      password_hash: null,
      may_change_password: false,
    });
  });

  it('concurrent first sign-ins of one person all succeed, whether the user is new or exists', async () => {
    for (const [makesUsers, email] of [
      [true, 'carol@acme.test'],
      [false, 'alice@acme.test'],
    ] as const) {
      await portal.sql`update sso_connection set makes_users = ${makesUsers}`;
      acme.bend(says({ sub: `subject of ${email}`, email }));
      const visits = await Promise.all(
        Array.from({ length: 6 }, async (_, n) => {
          const tab = browserForTest(n % 2 ? portal : second);
          return { tab, callback: pathOf(acme.visit(await departFor(tab, email))) };
        }),
      );
      const answers = await Promise.all(visits.map(({ tab, callback }) => tab.get(callback)));
      expect(answers.map(({ headers }) => headers.location)).toEqual(Array(6).fill('/portal/portal.html'));
      expect(await portal.sql`select from portal_user where email = ${email}`).toHaveLength(1);
    }
  });

  it("a created user never gets another's name, and a refused one is not created", async () => {
    await portal.sql`update sso_connection set makes_users = true, attributes = '{"username":"nick"}'`;
    acme.bend(says({ sub: 'new', email: 'carol@acme.test', nick: 'bob' }));
    await expectRefused(await signInAt(acme), 'name-taken');
    await portal.sql`update customer set allowed_networks = '{10.0.0.0/8}' where key = 'acme'`;
    acme.bend(says({ sub: 'new', email: 'carol@acme.test', nick: 'carol' }));
    expect((await signInAt(acme)).headers.location).toBe('/portal/loginfail/ip?ipaddress=198.51.100.7');
    expect(await portal.sql`select from portal_user where email = 'carol@acme.test'`).toHaveLength(0);
  });

  it('OI-33 a created user is never named by an address outside the connection’s domains', async () => {
    await portal.sql`update sso_connection set makes_users = true, attributes = '{"username":"nick"}' where key = 'acme-oidc'`;
    for (const nick of [
      'dora@beta.test',
      'DORA@Beta.test',
      'dora@nowhere.test',
      'dora@sub.acme.test',
      'dora@acme.test.beta.test',
    ]) {
      acme.bend(says({ sub: 'new', email: 'carol@acme.test', nick }));
      await expectRefused(await signInAt(acme), 'foreign-domain');
    }
    expect(await portal.sql`select from portal_user where email = 'carol@acme.test'`).toHaveLength(0);
    acme.bend(says({ sub: 'new', email: 'carol@acme.test', nick: 'Carol.Smith@ACME.test' }));
    expect((await signInAt(acme, 'carol@acme.test')).headers.location).toBe('/portal/portal.html');
  });

  it('a session is limited to the customer of the connection', async () => {
    await portal.sql`insert into membership select u.id, c.id from portal_user u, customer c where username = 'alice' and key = 'beta'`;
    await signInAt(acme);
    const session = await browser.get('/portal/session', { headers: { accept: 'application/json' } });
    expect(session.json().customers).toEqual(['acme']);
  });
});

describe('the rules of a password sign-in', () => {
  it('SA-31 an inactive user is refused, and so is one whose customer is disabled', async () => {
    await portal.sql`update portal_user set active = false`;
    await expectRefused(await signInAt(acme), 'inactive');
    await portal.sql`update portal_user set active = true`;
    const callback = acme.visit(await departFor(browser));
    await portal.sql`update customer set active = false`;
    await expectRefused(await browser.get(pathOf(callback)), 'connection-disabled');
  });

  it('SA-31 a connection disabled during a visit signs in nobody', async () => {
    const callback = acme.visit(await departFor(browser));
    await portal.sql`update sso_connection set active = false`;
    await expectRefused(await browser.get(pathOf(callback)), 'connection-disabled');
  });

  it('IP-14 an address that the customer does not admit is refused, and shown to the visitor', async () => {
    await portal.sql`update customer set allowed_networks = '{203.0.113.0/24}'`;
    const answer = await signInAt(acme);
    expect(answer.headers.location).toBe('/portal/loginfail/ip?ipaddress=198.51.100.7');
    expect(await sessions()).toBe(0);
    expect((await lastFailure(portal))?.reason).toBe('network');
  });

  it('OI-22 a required second factor is asked for here if the provider reports none', async () => {
    await portal.sql`update customer set two_factor = 'app'`;
    const answer = await signInAt(acme, undefined, { redirectURL: '/portal/reports' });
    expect(answer.headers.location).toBe('/portal/twoFactorRegistration?redirectURL=%2Fportal%2Freports');
    expect(await sessions()).toBe(0);
    await portal.sql`update customer set two_factor = 'email'`;
    expect((await signInAt(acme)).headers.location).toContain('codeSentViaEmail=true');
    await portal.workOff();
    expect(portal.mails.at(-1)?.recipient).toBe('alice@acme.test');
  });

  it('OI-22 a second factor reported by the provider counts only if the operator lists it', async () => {
    await portal.sql`update customer set two_factor = 'app'`;
    acme.bend(says({ amr: ['pwd', 'mfa'], acr: 'low' }));
    expect((await signInAt(acme)).headers.location).toContain('/twoFactorRegistration');
    await portal.sql`update sso_connection set second_factor_values = '{mfa}'`;
    expect((await signInAt(acme)).headers.location).toBe('/portal/portal.html');
    acme.bend(says({ amr: ['pwd'] }));
    expect((await signInAt(acme)).headers.location).toContain('/twoFactorRegistration');
  });

  it('OI-23 a cancellation at the provider ends on the failure page; its words are only in the steps', async () => {
    acme.bend({
      callback: (parameters) => {
        parameters.delete('code');
        parameters.set('error', 'access_denied');
        parameters.set('error_description', '<script>alert(1)</script>\u001b[2J');
      },
    });
    const answer = await signInAt(acme, undefined, { redirectURL: '/portal/reports' });
    await expectRefused(answer, 'provider-refused');
    expect(answer.headers.location).toBe(
      '/portal/loginfail/oidc?notice=signInCancelled&destination=%2Fportal%2Freports',
    );
    const page = await browser.get(String(answer.headers.location));
    expect(page.body).not.toContain('alert(1)');
    expect(page.body).not.toContain('access_denied');
    const words = (await lastFailure(portal))?.steps.map(({ outcome }) => outcome).join();
    expect(words).toContain('access_denied');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that none is left is what is tested
    expect(words).not.toMatch(/[\u0000-\u001f]/);
  });
});

describe('a domain that requires single sign-on', () => {
  beforeEach(async () => {
    await portal.sql`update sso_connection set required = true where key = 'acme-oidc'`;
  });

  it('sends every name of it to its provider alike, before any lookup', async () => {
    const known = await portal.signIn('alice@acme.test', 'wrong');
    const unknown = await portal.signIn('nobody@acme.test', 'wrong');
    expect(known.headers.location).toBe('/portal/singleSignOn?notice=useSingleSignOn');
    expect(unknown.headers.location).toBe(known.headers.location);
    expect(unknown.body).toBe(known.body);
    expect(await portal.sql`select from throttle`).toHaveLength(0);
  });

  it('refuses its users’ right password by username, and says why only to the operator', async () => {
    const answer = await portal.signIn('alice', 'Lantern-Harbour-42');
    expect(answer.headers.location).toBe('/portal/loginfail/default');
    const [event] = await portal.sql`select reason from audit_event where event = 'sign-in-refused'`;
    expect(event?.reason).toBe('single-sign-on-required');
  });

  it('people of other domains still use passwords', async () => {
    expect((await portal.signIn('bob', 'Lantern-Harbour-42')).headers.location).toBe('/portal/portal.html');
  });

  it('a forgotten password leads to an email that says how to sign in, without a link', async () => {
    await browser.post('/portal/password/forgotten', { username: 'alice@acme.test' });
    await portal.workOff();
    const [event] = await portal.sql`select reason from audit_event where event = 'password-forgotten'`;
    expect(event?.reason).toBe('single-sign-on-mailed');
    expect(await portal.sql`select from reset_link`).toHaveLength(0);
  });

  it.each([
    ['the connection', 'update sso_connection set active = false'],
    ['its customer', "update customer set active = false where key = 'acme'"],
  ])('OI-35 allows no password when %s is switched off, and visitors get a page with a next step', async (_, off) => {
    await portal.sql.unsafe(off);
    await addCustomer(portal, 'second');
    await portal.sql`
      insert into membership (user_id, customer_id)
      select u.id, c.id from portal_user u, customer c where u.username = 'alice' and c.key = 'second'`;
    expect((await portal.signIn('alice', 'Lantern-Harbour-42')).headers.location).toBe('/portal/loginfail/default');
    const byAddress = await portal.signIn('alice@acme.test', 'Lantern-Harbour-42');
    expect(byAddress.headers.location).toBe('/portal/singleSignOn?notice=useSingleSignOn');
    const pressed = await browser.post('/portal/authenticate/performSsoLogin', { username: 'alice@acme.test' });
    expect(pressed.headers.location).toBe('/portal/loginfail/oidc');
    const page = await browser.get('/portal/loginfail/oidc');
    expect(page.statusCode).toBe(200);
    expect(page.body).toContain('https://example.com/support');
    expect(page.body).toMatch(/[A-Z0-9]{4}-[A-Z0-9]{4}/);
    expect(await lastFailure(portal)).toMatchObject({ reason: 'connection-disabled' });
    await browser.post('/portal/password/forgotten', { username: 'alice@acme.test' });
    await portal.workOff();
    const [event] = await portal.sql`select reason from audit_event where event = 'password-forgotten'`;
    expect(event?.reason).toBe('single-sign-on-mailed');
    expect(await portal.sql`select from session`).toHaveLength(0);
  });
});

describe('sign-out', () => {
  it('ends the provider’s session as well, by a page that leads there', async () => {
    await signInAt(acme);
    const answer = await browser.post('/portal/logout', {});
    expect(answer.statusCode).toBe(200);
    expect(answer.body).toContain(`${acme.issuer}/end?`);
    expect(answer.body).toContain('id_token_hint=');
    expect((await browser.get('/portal/session')).statusCode).toBe(401);
  });
});
