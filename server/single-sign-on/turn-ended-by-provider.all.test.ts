import { beforeAll, beforeEach, expect, it } from 'vitest';
import type { Turns } from '#contract/page.ts';
import { limits } from '#server/limits.ts';
import { keepHouse } from '#server/upkeep/housekeeping.ts';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyTables } from '#testing/empty-tables.ts';
import { startForgedProvider } from '#testing/forged-openid-provider.ts';
import { type LogoutScene, logoutXml, redirected, whom } from '#testing/forged-saml-logout.ts';
import { logoutToken, postLogoutToken } from '#testing/logout-token.ts';
import { testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import {
  addSamlConnection,
  crossSite,
  postSamlAnswer,
  type SamlProviderForTest,
  samlAnswer,
  samlProvider,
  samlRequestAt,
} from '#testing/saml-sign-in-for-test.ts';
import { sharedByFile } from '#testing/shared-by-file.ts';
import { addOidcConnection, type BrowserForTest, browserForTest, departFor, pathOf } from '#testing/sso-for-test.ts';

let saml: SamlProviderForTest;
const portal = portalOfFile();
const oidc = sharedByFile(() => startForgedProvider(portal.deps));
beforeAll(async () => {
  saml = await samlProvider('idp.acme.test', portal.deps.now());
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
  await addUser(portal, { username: 'opal', email: 'opal@op.test' });
  const there = 'https://idp.acme.test/slo';
  await addSamlConnection(portal, saml, { logout: { url: there, responseUrl: there, binding: 'redirect' } });
  await addOidcConnection(portal, oidc, { domains: ['op.test'] });
  oidc.bend({ claims: (honest) => ({ ...honest, email: 'opal@op.test' }) });
});

let browser: BrowserForTest;
beforeEach(async () => {
  await emptyTables(portal, 'session', 'ended_session', 'provider_logout', 'throttle', 'sso_request');
  await portal.sql`update customer set two_factor = 'off'`;
  browser = browserForTest(portal);
});

/** The marks that a page reports to its tab. */
const turnsAt = async (url: string): Promise<Turns | undefined> => {
  const { body } = await browser.get(url);
  return JSON.parse(/<script type="application\/json" id="page">(.*?)<\/script>/.exec(body)?.[1] ?? '{}').turns;
};
const bySaml = async () => {
  const posted = await postSamlAnswer(
    portal,
    browser,
    samlAnswer(portal, saml, samlRequestAt(await departFor(browser))),
  );
  return await browser.get(String(posted.headers.location), crossSite);
};
const byOidc = async () => await browser.get(pathOf(oidc.visit(await departFor(browser, 'opal@op.test'))));
const samlLogout = async () => {
  const path = '/portal/authenticate/saml/logout';
  const destination = `http://localhost:8080${path}`;
  const scene: LogoutScene = { key: saml.key, now: portal.deps.now(), entityId: saml.entityId, destination };
  const query = redirected(scene, logoutXml(scene, { inside: whom('alice@acme.test') }));
  await portal.send({ url: `${path}?${query}`, headers: { 'sec-fetch-site': 'cross-site' } });
};
const oidcLogout = async () =>
  expect((await postLogoutToken(portal, await logoutToken(portal, oidc))).statusCode).toBe(200);

it.each([
  ['OpenID Connect', byOidc, oidcLogout],
  ['SAML', bySaml, samlLogout],
])(
  'SE-15 a sign-out at the provider (%s) counts here: the next page makes every tab discard what it saved',
  async (_, signIn, logout) => {
    await signIn();
    const before = await turnsAt('/portal/portal.html');
    expect(before).toEqual({ signedIn: expect.any(String), signedOut: null });
    await logout();
    const after = await turnsAt('/portal/forgotten');
    expect(after?.signedOut).toMatch(/^[\w-]{43}$/);
    // The mark then stays the same, so that nothing is discarded twice.
    for (const url of ['/portal/login', '/portal/forgotten']) expect(await turnsAt(url)).toEqual(after);
    expect(Object.keys(browser.cookies)).not.toContain('vestibule-session');
  },
);

it.each([
  ['OpenID Connect', byOidc, oidcLogout, 'opal'],
  ['SAML', bySaml, samlLogout, 'alice'],
])(
  'SE-15 also (%s) if a second sign-in by password waits for its code by then',
  async (_, signIn, logout, username) => {
    await signIn();
    await portal.sql`update customer set two_factor = 'email'`;
    const { headers } = await browser.post('/portal/performlogin', { username, password: testPassword });
    expect(headers.location).toContain('/twoFactor');
    await logout();
    expect(await portal.sql`select from session`).toHaveLength(0);
    expect((await turnsAt('/portal/login'))?.signedOut).toEqual(expect.any(String));
  },
);

it('SE-15 also where a hub asks first, and its stand-in leads to the form', async () => {
  for (const url of ['/portal/session', '/portal/portal.html']) {
    await byOidc();
    const before = await turnsAt('/portal/portal.html');
    portal.wait(1000);
    await oidcLogout();
    const answer = await browser.get(url);
    expect(answer.statusCode, url).not.toBe(200);
    const mark = browser.cookies['vestibule-signed-out'];
    expect(mark, url).toMatch(/^[\w-]{43}$/);
    expect(mark, url).not.toBe(before?.signedOut);
    expect((await turnsAt('/portal/login'))?.signedOut, url).toBe(mark);
    portal.wait(1000);
  }
});

it('SE-15 open visits end with it', async () => {
  await byOidc();
  await departFor(browser, 'opal@op.test');
  await oidcLogout();
  await browser.get('/portal/login');
  expect(Object.keys(browser.cookies).filter((name) => name.includes('visit'))).toEqual([]);
});

it('SE-15 a browser learns of it that has not read the response with the session’s token', async () => {
  await byOidc();
  const brought = await browser.open(pathOf(oidc.visit(await departFor(browser, 'opal@op.test'))));
  const lost = await portal.send({ url: String(brought.headers.location), cookies: { ...browser.cookies } });
  expect(lost.headers.location).toBe('/portal/portal.html');
  await departFor(browser, 'opal@op.test');
  await oidcLogout();
  expect((await turnsAt('/portal/login'))?.signedOut).toMatch(/^[\w-]{43}$/);
  expect(Object.keys(browser.cookies).filter((name) => name.includes('visit'))).toEqual([]);
  expect(browser.cookies['vestibule-afresh']).toBeDefined();
});

it('a session that expires, or is ended by someone else, is not a sign-out; a half session that ends so is one (SE-15)', async () => {
  await byOidc();
  await portal.sql`delete from session`;
  expect((await turnsAt('/portal/login'))?.signedOut).toBeNull();
  await portal.sql`update customer set two_factor = 'email'`;
  await byOidc();
  await oidcLogout();
  expect((await turnsAt('/portal/login'))?.signedOut).toMatch(/^[\w-]{43}$/);
});

it('another session in the browser is left alone', async () => {
  await byOidc();
  await browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
  await oidcLogout();
  const turns = await turnsAt('/portal/portal.html');
  expect(turns?.signedOut).toBeNull();
  expect(await portal.sql`select from session`).toHaveLength(1);
});

it('SE-15 what ended is remembered for as long as a provider would be asked for a fresh sign-in', async () => {
  await byOidc();
  await oidcLogout();
  portal.wait(limits.askedAfresh - 1);
  await keepHouse(portal.deps);
  expect(await portal.sql`select from ended_session where octet_length(token_hash) = 32`).toHaveLength(1);
  portal.wait(1);
  await keepHouse(portal.deps);
  expect(await portal.sql`select from ended_session`).toHaveLength(0);
});
