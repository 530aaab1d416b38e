import { beforeEach, describe, expect, it } from 'vitest';
import { calls } from '#contract/calls.ts';
import { limits } from '#server/limits.ts';
import { type LogoutScene, logoutXml, redirected } from '#test/forgeries/forged-saml-logout.ts';
import { logoutToken, postLogoutToken } from '#test/forgeries/logout-token.ts';
import { startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import type { TestRequest } from '#test/support/portal-for-test.ts';
import { portalOfFile, sharedByFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import {
  addSamlConnection,
  crossSite,
  postSamlAnswer,
  samlAnswer,
  samlProviderOfFile,
  samlRequestAt,
  signInBySaml,
} from '#test/support/saml-for-test.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  pathOf,
  signInByOidc,
} from '#test/support/sso-for-test.ts';

const portal = portalOfFile();
const acme = samlProviderOfFile(portal, 'idp.acme.test');
const op = sharedByFile(() => startForgedProvider(portal.deps));

let browser: BrowserForTest;
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
  await addUser(portal, { username: 'opal', email: 'opal@op.test' });
  await addSamlConnection(portal, acme);
  await addOidcConnection(portal, op, { domains: ['op.test'] });
  op.bend({ claims: (honest) => ({ ...honest, email: 'opal@op.test' }) });
  browser = browserForTest(portal);
});

const marked = (mode: string, dest: string, more = {}) => ({
  headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': mode, 'sec-fetch-dest': dest, ...more },
});
const prefetched = { 'sec-purpose': 'prefetch' };
const logout = '/portal/authenticate/saml/logout';
const callback = '/portal/authenticate/oidc/callback/acme-oidc?state=x';
const rows = async () => [
  ...(await portal.sql`select key from throttle`),
  ...(await portal.sql`select event from audit_event`),
];
const sessionStatus = async (of = browser) => (await of.get('/portal/session')).statusCode;

describe('what is on a foreign page', () => {
  it.each<[string, string, string, string, Record<string, string>]>([
    ['an image at single logout', `${logout}?SAMLRequest=n`, 'no-cors', 'image', {}],
    ['a call of single logout', `${logout}?SAMLRequest=n`, 'cors', 'empty', {}],
    ['an image at the end of an OpenID visit', callback, 'no-cors', 'image', {}],
    ['a frame there', callback, 'navigate', 'iframe', {}],
    ['an object there', callback, 'navigate', 'object', {}],
    ['a page loaded ahead', callback, 'navigate', 'document', prefetched],
    ['a page rendered ahead', callback, 'navigate', 'document', { 'sec-purpose': 'prefetch;prerender' }],
    ['a page loaded ahead by Safari', callback, 'navigate', 'document', { 'x-purpose': 'preview' }],
    ['a page loaded ahead by old browsers', callback, 'navigate', 'document', { purpose: 'prefetch' }],
    ['a page loaded ahead by Firefox', callback, 'navigate', 'document', { 'x-moz': 'prefetch' }],
  ])('CS-09 %s is refused and leaves no row', async (_name, url, mode, dest, more) => {
    expect((await portal.send({ url, ...marked(mode, dest, more) })).statusCode).toBe(403);
    expect(await rows()).toEqual([]);
  });

  it('CS-09 a script posting a SAML answer or logout is refused and leaves no row', async () => {
    for (const [url, form] of [
      ['/portal/authenticate/saml/acs', { SAMLResponse: 'x' }],
      [logout, { SAMLRequest: 'x' }],
    ] as const) {
      const headers = { origin: 'https://evil.example', ...marked('no-cors', 'empty').headers };
      expect((await portal.send({ method: 'POST', url, form, headers })).statusCode, url).toBe(403);
    }
    expect(await rows()).toEqual([]);
  });

  it('CS-07 a post from the provider’s site counts only where SAML messages go', async () => {
    const answer = samlAnswer(portal, acme, samlRequestAt(await departFor(browser)));
    const accepted = ['samlAnswer', 'samlLogoutPosted', 'oidcBackchannelLogout'];
    const others = Object.entries(calls).filter(([name, { method }]) => method === 'POST' && !accepted.includes(name));
    expect(others.length).toBeGreaterThan(8);
    for (const [name, { path }] of others) {
      const url = `/portal${path}`;
      expect((await portal.send({ method: 'POST', url, form: answer, ...crossSite })).statusCode, name).toBe(403);
    }
    await postSamlAnswer(portal, browser, answer);
    expect(await sessionStatus()).toBe(200);
  });

  it('CS-07 and only as the answer to a request of ours that waits, once', async () => {
    const request = samlRequestAt(await departFor(browser));
    const another = samlRequestAt(await departFor(browserForTest(portal)));
    const ends = [];
    for (const asked of [null, { ...request, state: 'A'.repeat(43) }, another, request, request]) {
      const own = browserForTest(portal);
      Object.assign(own.cookies, browser.cookies);
      await postSamlAnswer(portal, own, samlAnswer(portal, acme, asked));
      ends.push(await sessionStatus(own));
    }
    expect(ends).toEqual([401, 401, 401, 200, 401]);
  });

  it('CS-09 its images, frames and speculation rules lock nobody at the address out of single sign-on', async () => {
    const url = `${logout}?SAMLRequest=n`;
    for (let loads = 0; loads < limits.throttle.costly.freeFailures + 4; loads += 1)
      for (const how of [marked('no-cors', 'image'), marked('navigate', 'iframe'), marked('navigate', '', prefetched)])
        await portal.send({ url, ...how });
    expect(await signInBySaml(portal, acme, browser)).toBe('/portal/portal.html');
  });

  it('a prefetched provider’s answer is not consumed', async () => {
    const answer = pathOf(op.visit(await departFor(browser, 'opal@op.test')));
    expect((await browser.get(answer, marked('navigate', 'document', prefetched))).statusCode).toBe(403);
    await browser.get(answer);
    expect(await sessionStatus()).toBe(200);
  });

  it('a provider still ends sessions in a frame', async () => {
    await signInBySaml(portal, acme, browser);
    const destination = `http://localhost:8080${logout}`;
    const scene: LogoutScene = { key: acme.key, now: portal.deps.now(), entityId: acme.entityId, destination };
    const url = `${logout}?${redirected(scene, logoutXml(scene))}`;
    expect(await sessionStatus()).toBe(200);
    expect((await portal.send({ url, ...marked('navigate', 'iframe') })).statusCode).toBe(303);
    expect(await sessionStatus()).toBe(401);
  });
});

describe('the address that the servers of providers call', () => {
  const post = (token: string, more: Partial<TestRequest> = {}) =>
    postLogoutToken(portal, token, { from: '203.0.113.9', ...more });

  it.each([
    { origin: 'https://evil.example', 'sec-fetch-site': '' },
    { origin: '', 'sec-fetch-site': 'same-origin' },
    { origin: '', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
  ])('CS-09 accepts nothing from a browser: %j', async (headers) => {
    expect((await post(await logoutToken(portal, op), { headers })).statusCode).toBe(403);
    expect(await rows()).toEqual([]);
  });

  it('accepts a valid token, also with the mode that fetch in Node sends, and from an address that sent many invalid ones', async () => {
    await signInByOidc(op, browser, 'opal@op.test');
    expect(await sessionStatus()).toBe(200);
    for (let tries = 0; tries < limits.throttle.costly.freeFailures + 2; tries += 1) await post('x');
    expect((await post('x')).statusCode).toBe(429);
    const headers = { origin: '', 'sec-fetch-site': '', 'sec-fetch-mode': 'cors' };
    expect((await post(await logoutToken(portal, op), { headers })).statusCode).toBe(200);
    expect(await sessionStatus()).toBe(401);
  });
});
