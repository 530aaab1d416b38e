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
} from '#test/support/saml-for-test.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  pathOf,
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

const marked = (mode: string, dest: string) => ({
  headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': mode, 'sec-fetch-dest': dest },
});
const logout = '/portal/authenticate/saml/logout';
const rows = async () => [
  ...(await portal.sql`select key from throttle`),
  ...(await portal.sql`select event from audit_event`),
];
const signInBySaml = async () =>
  await postSamlAnswer(portal, browser, samlAnswer(portal, acme, samlRequestAt(await departFor(browser))));

describe('what is on a foreign page', () => {
  it.each([
    ['an image at single logout', `${logout}?SAMLRequest=n`, 'no-cors', 'image'],
    ['a call of single logout', `${logout}?SAMLRequest=n`, 'cors', 'empty'],
    [
      'an image at the end of an OpenID visit',
      '/portal/authenticate/oidc/callback/acme-oidc?state=x',
      'no-cors',
      'image',
    ],
    ['a frame there', '/portal/authenticate/oidc/callback/acme-oidc?state=x', 'navigate', 'iframe'],
    ['an object there', '/portal/authenticate/oidc/callback/acme-oidc?state=x', 'navigate', 'object'],
  ])('CS-09 %s is refused and leaves no row', async (_name, url, mode, dest) => {
    expect((await portal.send({ url, ...marked(mode, dest) })).statusCode).toBe(403);
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
    expect((await browser.get('/portal/session')).statusCode).toBe(200);
  });

  it('CS-07 and only as the answer to a request of ours that waits, once', async () => {
    const request = samlRequestAt(await departFor(browser));
    const endOf = async (form: Record<string, string>) => {
      const own = browserForTest(portal);
      Object.assign(own.cookies, browser.cookies);
      await postSamlAnswer(portal, own, form);
      return (await own.get('/portal/session')).statusCode;
    };
    expect(await endOf(samlAnswer(portal, acme, null))).toBe(401);
    expect(await endOf(samlAnswer(portal, acme, { id: '_unknown', state: 'A'.repeat(43) }))).toBe(401);
    expect(await endOf(samlAnswer(portal, acme, { ...request, state: 'A'.repeat(43) }))).toBe(401);
    const another = samlRequestAt(await departFor(browserForTest(portal)));
    expect(await endOf(samlAnswer(portal, acme, another))).toBe(401);
    expect(await endOf(samlAnswer(portal, acme, request))).toBe(200);
    expect(await endOf(samlAnswer(portal, acme, request))).toBe(401);
  });

  it('CS-09 its images and frames lock nobody at the address out of single sign-on', async () => {
    const more = limits.throttle.costly.freeFailures + 4;
    for (let images = 0; images < more; images += 1) {
      await portal.send({ url: `${logout}?SAMLRequest=n`, ...marked('no-cors', 'image') });
      await portal.send({ url: `${logout}?SAMLRequest=n`, ...marked('navigate', 'iframe') });
    }
    expect((await signInBySaml()).statusCode).toBe(303);
  });

  const ahead = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

  it.each([
    { 'sec-purpose': 'prefetch' },
    { 'sec-purpose': 'prefetch;prerender' },
    { purpose: 'prefetch' },
    { 'x-purpose': 'preview' },
    { 'x-moz': 'prefetch' },
  ])('CS-09 a prefetched page (%j) is refused and leaves no row', async (purpose) => {
    for (const url of [`${logout}?SAMLRequest=n`, '/portal/authenticate/oidc/callback/acme-oidc?state=x'])
      expect((await portal.send({ url, headers: { ...ahead, ...purpose } })).statusCode, url).toBe(403);
    expect(await rows()).toEqual([]);
  });

  it('CS-09 its speculation rules lock nobody at the address out of single sign-on', async () => {
    for (let loaded = 0; loaded < limits.throttle.costly.freeFailures + 15; loaded += 1)
      await portal.send({ url: `${logout}?SAMLRequest=n`, headers: { ...ahead, 'sec-purpose': 'prefetch' } });
    expect((await signInBySaml()).statusCode).toBe(303);
  });

  it('a prefetched provider’s answer is not consumed', async () => {
    const answer = pathOf(op.visit(await departFor(browser, 'opal@op.test')));
    const early = { headers: { ...ahead, 'sec-purpose': 'prefetch' } };
    expect((await browser.get(answer, early)).statusCode).toBe(403);
    await browser.get(answer);
    expect((await browser.get('/portal/session')).statusCode).toBe(200);
  });

  it('a provider still ends sessions in a frame', async () => {
    await signInBySaml();
    expect((await browser.get('/portal/session')).statusCode).toBe(200);
    const destination = `http://localhost:8080${logout}`;
    const scene: LogoutScene = { key: acme.key, now: portal.deps.now(), entityId: acme.entityId, destination };
    const url = `${logout}?${redirected(scene, logoutXml(scene))}`;
    expect((await portal.send({ url, ...marked('navigate', 'iframe') })).statusCode).toBe(303);
    expect((await browser.get('/portal/session')).statusCode).toBe(401);
  });
});

describe('the address that the servers of providers call', () => {
  const post = (token: string, more: Partial<TestRequest> = {}) =>
    postLogoutToken(portal, token, { from: '203.0.113.9', ...more });
  const token = () => logoutToken(portal, op);

  it.each([
    { origin: 'https://evil.example', 'sec-fetch-site': '' },
    { origin: '', 'sec-fetch-site': 'same-origin' },
    { origin: '', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
  ])('CS-09 accepts nothing from a browser: %j', async (headers) => {
    expect((await post(await token(), { headers })).statusCode).toBe(403);
    expect(await rows()).toEqual([]);
  });

  it('accepts a valid token from a server whose library sends a mode, as fetch in Node does', async () => {
    const headers = { origin: '', 'sec-fetch-site': '', 'sec-fetch-mode': 'cors' };
    expect((await post(await token(), { headers })).statusCode).toBe(200);
  });

  it('accepts a valid token from an address that sent many invalid ones', async () => {
    await browser.get(pathOf(op.visit(await departFor(browser, 'opal@op.test'))));
    expect((await browser.get('/portal/session')).statusCode).toBe(200);
    for (let tries = 0; tries < limits.throttle.costly.freeFailures + 2; tries += 1) await post('x');
    expect((await post('x')).statusCode).toBe(429);
    expect((await post(await token())).statusCode).toBe(200);
    expect((await browser.get('/portal/session')).statusCode).toBe(401);
  });
});
