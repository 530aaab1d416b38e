import { describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  followLeavePage,
  lastFailure,
  pathOf,
  signInByOidc,
} from '#test/support/sso-for-test.ts';
import { ssoOfFile } from '#test/support/sso-of-file.ts';

let browser: BrowserForTest;
const { portal, ops } = ssoOfFile({
  people: ['alice', { username: 'bob', email: 'bob@beta.test', customers: ['beta'] }],
  oidc: { acme: {}, beta: { key: 'beta-oidc', customerKey: 'beta', domains: ['beta.test'] } },
  also: (portal) => {
    acme.bend({ claims: (honest) => ({ ...honest, email: 'alice@acme.test' }) });
    browser = browserForTest(portal);
  },
});
const { acme, beta } = ops;

const pressForm = (form: Record<string, string>, by = browser) => by.post('/portal/authenticate/performSsoLogin', form);
const pressButton = async (form: Record<string, string> = {}, by = browser) =>
  await by.post('/portal/authenticate/checkSsoLogin', form);
const locationOf = ({ headers }: { headers: Record<string, unknown> }) => String(headers.location);
const typedAlice = { username: 'alice@acme.test', redirectURL: '/portal/reports' };

describe('the form', () => {
  it('leads over a page of ours to the provider, with the typed address as a hint, PKCE, state and nonce', async () => {
    const pressed = await pressForm(typedAlice);
    const page = await browser.get(locationOf(pressed));
    expect(page.headers['content-security-policy']).toContain("; form-action 'self'; ");
    const asked = new URL(await followLeavePage(browser, pressed)).searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      login_hint: 'alice@acme.test',
      redirect_uri: 'http://localhost:8080/portal/authenticate/oidc/callback/acme-oidc',
      code_challenge_method: 'S256',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^.{20,}$/),
    });
  });

  it('EN-08 unknown and known people of a domain get the same answer, and go to the same provider', async () => {
    const asked = async (username: string) => {
      const own = browserForTest(portal);
      const answer = await pressForm({ username }, own);
      const { origin, pathname, searchParams } = new URL(await followLeavePage(own, answer));
      const location = locationOf(answer).replace(/visit=[\w-]+/, 'visit=');
      return { status: answer.statusCode, location, to: origin + pathname, names: [...searchParams.keys()].sort() };
    };
    const known = await asked('alice@acme.test');
    expect(known.to).toContain(acme.issuer);
    for (const username of ['nobody@acme.test', `${'x'.repeat(60)}@acme.test`])
      expect(await asked(username)).toEqual(known);
    // Without an address it depends on the browser alone: nobody can ask about somebody else.
    expect(locationOf(await pressButton({ username: 'alice@acme.test' }))).toBe('/portal/singleSignOn');
  });

  it('EN-09 an unknown domain and one of a customer without single sign-on get the same answer, which lists nobody', async () => {
    await addUser(portal, { username: 'plain', email: 'plain@plain.test' });
    const asked = async (username: string) => {
      const own = browserForTest(portal);
      const location = locationOf(await pressForm({ username }, own));
      const { body, statusCode } = await own.get(location);
      const shown = body.replaceAll(/[A-Z0-9]{4}-[A-Z0-9]{4}/g, 'REFERENCE').replaceAll(username, 'TYPED');
      return { location, statusCode, shown };
    };
    const nowhere = await asked('plain@nowhere.test');
    expect(nowhere.location).toBe('/portal/loginfail/oidc');
    expect(await asked('plain@plain.test')).toEqual(nowhere);
    for (const secret of ['acme', 'Acme', 'beta', 'Provider']) expect(nowhere.shown).not.toContain(secret);
  });

  it.each(['alice', '<i>@', ''])('%j is not an address: the form again, as it was', async (username) => {
    const form = { username, redirectURL: '/portal/portal.html?tab=2' };
    const { statusCode, body } = await browser.post('/portal/authenticate/performSsoLogin?lang=de', form);
    expect(statusCode).toBe(400);
    const value = `value="${username.replace('<', '&lt;').replace('>', '&gt;')}"`;
    const destination = 'name="redirectURL" value="/portal/portal.html?tab=2"';
    for (const words of [value, 'id="email-error"', destination, '<html lang="de"']) expect(body).toContain(words);
    expect(await portal.sql`select from visit`).toHaveLength(0);
  });

  it('several connections of a domain are offered as a choice, without the address in the URL', async () => {
    await addOidcConnection(portal, beta, { key: 'acme-other', name: 'The other one' });
    const location = locationOf(await pressForm({ username: 'alice@acme.test' }));
    expect(location).toBe('/portal/singleSignOn?notice=chooseConnection');
    const { body } = await browser.get(location);
    for (const words of ['The other one', 'Provider acme-oidc', 'For the account alice@acme.test'])
      expect(body).toContain(words);
    expect(await departFor(browser, 'alice@acme.test', { connection: 'acme-other' })).toContain(beta.issuer);
    await portal.sql`delete from sso_connection where key = 'acme-other'`;
    expect(await departFor(browser, 'alice@acme.test', { connection: 'beta-oidc' })).toContain(acme.issuer);
  });

  it('too many visits from one address have to wait; a person already on the way gets in', async () => {
    const callback = acme.visit(await departFor(browser));
    await portal.sql`update throttle set failures = ${limits.throttle.address.freeFailures * 20} where key like 'sso-%'`;
    await pressButton();
    const answer = await pressButton();
    expect([answer.statusCode, Number(answer.headers['retry-after']) > 0]).toEqual([429, true]);
    expect(portal.logs()).not.toMatch(/"level":[456]0/);
    expect(locationOf(await browser.get(pathOf(callback)))).toBe('/portal/portal.html');
    expect(await portal.sql`select from audit_event where reason = 'throttled'`).toHaveLength(1);
  });
});

it('the button needs no typing the second time, unless the connection is forged, disabled, or failed the last time', async () => {
  const form = '/portal/singleSignOn';
  browser.cookies['vestibule-connection'] = 'A'.repeat(80);
  expect(locationOf(await pressButton())).toBe(form);
  expect(await signInByOidc(acme, browser, undefined, { redirectURL: '//evil.example' })).toBe('/portal/portal.html');
  const again = await pressButton({ redirectURLSSO: '/portal/reports' });
  const callback = acme.visit(await followLeavePage(browser, again));
  expect(locationOf(await browser.get(pathOf(callback)))).toBe('/portal/reports');
  await portal.sql`update sso_connection set active = false`;
  expect(locationOf(await pressButton())).toBe(form);
  await portal.sql`update sso_connection set active = true`;
  acme.bend({ callback: (parameters) => parameters.set('error', 'access_denied') });
  const location = await signInByOidc(acme, browser);
  expect((await browser.get(location)).body).toContain(`href="${form}`);
  expect(locationOf(await pressButton())).toBe(form);
});

it.each([
  ['in use', 'select 1'],
  ['switched off', 'update sso_connection set active = false'],
  ['of a customer that is switched off', "update customer set active = false where key = 'acme'"],
])(
  'EN-08 OI-35 a domain that requires single sign-on allows no password, whose connection is %s',
  async (what, change) => {
    await portal.sql`update sso_connection set required = true where key = 'acme-oidc'`;
    await portal.sql.unsafe(change);
    await addCustomer(portal, 'second');
    await portal.sql`
    insert into membership (user_id, customer_id)
    select u.id, c.id from portal_user u, customer c where u.username = 'alice' and c.key = 'second'`;
    const reasonsOf = async (event: string) =>
      (await portal.sql`select reason from audit_event where event = ${event}`).map(({ reason }) => reason);
    // Every name is sent to the provider alike, before any lookup.
    const known = await portal.signIn('alice@acme.test', 'wrong');
    const unknown = await portal.signIn('nobody@acme.test', 'wrong');
    expect(locationOf(known)).toBe('/portal/singleSignOn?notice=useSingleSignOn');
    expect([locationOf(unknown), unknown.body]).toEqual([locationOf(known), known.body]);
    expect(await portal.sql`select from throttle`).toHaveLength(0);
    expect(locationOf(await portal.signIn('alice', testPassword))).toBe('/portal/loginfail/default');
    expect(await reasonsOf('sign-in-refused')).toEqual(['single-sign-on-required']);
    expect(locationOf(await portal.signIn('bob', testPassword))).toBe('/portal/portal.html');
    await browser.post('/portal/password/forgotten', { username: 'alice@acme.test' });
    await portal.workOff();
    expect(await reasonsOf('password-forgotten')).toEqual(['single-sign-on-mailed']);
    expect(await portal.sql`select from reset_link`).toHaveLength(0);
    if (what === 'in use') return;
    expect(locationOf(await pressForm({ username: 'alice@acme.test' }))).toBe('/portal/loginfail/oidc');
    const { body } = await browser.get('/portal/loginfail/oidc');
    expect(body).toMatch(/[A-Z0-9]{4}-[A-Z0-9]{4}/);
    expect(body).toContain('https://example.com/support');
    expect(await lastFailure(portal)).toMatchObject({ reason: 'connection-disabled' });
  },
);
