import { expect, it } from 'vitest';
import { calls } from '#contract/calls.ts';
import { limits } from '#server/limits.ts';
import { type LogoutScene, logoutXml, redirected } from '#test/forgeries/forged-saml-logout.ts';
import { logoutToken, postLogoutToken } from '#test/forgeries/logout-token.ts';
import { crossSite, postSamlAnswer, samlAnswer, samlRequestAt, signInBySaml } from '#test/support/saml-for-test.ts';
import { type BrowserForTest, browserForTest, departFor, pathOf } from '#test/support/sso-for-test.ts';
import { ssoOfFile } from '#test/support/sso-of-file.ts';

let browser: BrowserForTest;
const { portal, idps, ops } = ssoOfFile({
  people: ['alice', { username: 'opal', email: 'opal@op.test' }],
  saml: { acme: {} },
  oidc: { op: { domains: ['op.test'] } },
  also: (portal) => {
    op.bend({ claims: (honest) => ({ ...honest, email: 'opal@op.test' }) });
    browser = browserForTest(portal);
  },
});
const { acme } = idps;
const { op } = ops;

const marked = (mode: string, dest: string, more = {}) => ({
  headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': mode, 'sec-fetch-dest': dest, ...more },
});
const prefetched = { 'sec-purpose': 'prefetch' };
const logout = '/portal/authenticate/saml/logout';
const callback = '/portal/authenticate/oidc/callback/acme-oidc?state=x';
const rows = () => portal.sql`select key as of from throttle union all select event from audit_event`;
const sessionStatus = async (of = browser) => (await of.get('/portal/session')).statusCode;

it.each<[string, string, string, string, Record<string, string>]>([
  ['an image at single logout', `${logout}?SAMLRequest=n`, 'no-cors', 'image', {}],
  ['an image at the end of an OpenID visit', callback, 'no-cors', 'image', {}],
  ['a frame there', callback, 'navigate', 'iframe', {}],
  ['a page loaded ahead', callback, 'navigate', 'document', prefetched],
  ['a page loaded ahead by Safari', callback, 'navigate', 'document', { 'x-purpose': 'preview' }],
  ['a page loaded ahead by Firefox', callback, 'navigate', 'document', { 'x-moz': 'prefetch' }],
])('CS-09 on a foreign page, %s is refused and leaves no row', async (_name, url, mode, dest, more) => {
  expect((await portal.send({ url, ...marked(mode, dest, more) })).statusCode).toBe(403);
  expect(await rows()).toEqual([]);
});

it('CS-09 its script posts no SAML answer or logout, and what it loads locks nobody out of single sign-on', async () => {
  for (const [url, form] of [
    ['/portal/authenticate/saml/acs', { SAMLResponse: 'x' }],
    [logout, { SAMLRequest: 'x' }],
  ] as const) {
    const headers = { origin: 'https://evil.example', ...marked('no-cors', 'empty').headers };
    expect((await portal.send({ method: 'POST', url, form, headers })).statusCode, url).toBe(403);
  }
  expect(await rows()).toEqual([]);
  for (let loads = 0; loads < limits.throttle.costly.freeFailures + 4; loads += 1)
    for (const how of [marked('navigate', 'iframe'), marked('navigate', '', prefetched)])
      await portal.send({ url: `${logout}?SAMLRequest=n`, ...how });
  expect(await signInBySaml(portal, acme, browser)).toBe('/portal/portal.html');
});

it('CS-07 a post from the provider’s site counts only where SAML messages go, as the answer to a request that waits, once', async () => {
  const request = samlRequestAt(await departFor(browser));
  const another = samlRequestAt(await departFor(browserForTest(portal)));
  const form = samlAnswer(portal, acme, request);
  const accepted = ['samlAnswer', 'samlLogoutPosted', 'oidcBackchannelLogout'];
  const others = Object.entries(calls).filter(([name, { method }]) => method === 'POST' && !accepted.includes(name));
  expect(others.length).toBeGreaterThan(8);
  for (const [name, { path }] of others)
    expect((await portal.send({ method: 'POST', url: `/portal${path}`, form, ...crossSite })).statusCode, name).toBe(
      403,
    );
  const ends = [];
  for (const asked of [null, { ...request, state: 'A'.repeat(43) }, another, request, request]) {
    const own = browserForTest(portal);
    Object.assign(own.cookies, browser.cookies);
    await postSamlAnswer(portal, own, samlAnswer(portal, acme, asked));
    ends.push(await sessionStatus(own));
  }
  expect(ends).toEqual([401, 401, 401, 200, 401]);
});

it('an answer that is loaded ahead is not consumed; a provider still ends sessions in a frame', async () => {
  const answer = pathOf(op.visit(await departFor(browser, 'opal@op.test')));
  expect((await browser.get(answer, marked('navigate', 'document', prefetched))).statusCode).toBe(403);
  await browser.get(answer);
  expect(await sessionStatus()).toBe(200);
  const other = browserForTest(portal);
  await signInBySaml(portal, acme, other);
  const destination = `http://localhost:8080${logout}`;
  const scene: LogoutScene = { key: acme.key, now: portal.deps.now(), entityId: acme.entityId, destination };
  await portal.send({ url: `${logout}?${redirected(scene, logoutXml(scene))}`, ...marked('navigate', 'iframe') });
  expect(await sessionStatus(other)).toBe(401);
});

it.each([
  { origin: 'https://evil.example', 'sec-fetch-site': '' },
  { origin: '', 'sec-fetch-site': 'same-origin' },
  { origin: '', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
])('CS-09 the address for providers’ servers accepts nothing from a browser: %j', async (headers) => {
  expect((await postLogoutToken(portal, await logoutToken(portal, op), { headers })).statusCode).toBe(403);
  expect(await rows()).toEqual([]);
});
