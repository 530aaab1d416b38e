import { beforeAll, beforeEach, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { keepHouse } from '#server/upkeep/housekeeping.ts';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyDatabase } from '#testing/empty-tables.ts';
import { startForgedProvider } from '#testing/forged-openid-provider.ts';
import { type LogoutScene, logoutXml, messageAt, redirected, whom } from '#testing/forged-saml-logout.ts';
import { holdRows, untilWaiting } from '#testing/held-rows.ts';
import { logoutToken, postLogoutToken } from '#testing/logout-token.ts';
import { cookiesOf } from '#testing/portal-for-test.ts';
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
import { signedInAs } from '#testing/signed-in-as.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  lastFailure,
  pathOf,
} from '#testing/sso-for-test.ts';
import { codeNow, giveApp, verify } from '#testing/two-factor-for-test.ts';
import { portalKeys } from './portal-keys.ts';

let acme: SamlProviderForTest;
let certificate: string;
const portal = portalOfFile();
const op = sharedByFile(() => startForgedProvider(portal.deps));
beforeAll(async () => {
  acme = await samlProvider('idp.acme.test', portal.deps.now());
  [{ certificate }] = await portalKeys(portal.deps);
});

let browser: BrowserForTest;
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
  await addUser(portal, { username: 'opal', email: 'opal@op.test' });
  const there = 'https://idp.acme.test/slo';
  await addSamlConnection(portal, acme, { logout: { url: there, responseUrl: there, binding: 'redirect' } });
  await addOidcConnection(portal, op, { domains: ['op.test'] });
  op.bend({ claims: (honest) => ({ ...honest, email: 'opal@op.test' }) });
  browser = browserForTest(portal);
});

const who = async () => await signedInAs(portal, browser.cookies);
const broughtAnswer = async () =>
  await postSamlAnswer(portal, browser, samlAnswer(portal, acme, samlRequestAt(await departFor(browser))));

async function samlLogout(inside = whom('alice@acme.test')): Promise<string> {
  const path = '/portal/authenticate/saml/logout';
  const now = portal.deps.now();
  const scene: LogoutScene = {
    key: acme.key,
    now,
    entityId: acme.entityId,
    destination: `http://localhost:8080${path}`,
  };
  const query = redirected(scene, logoutXml(scene, { inside }));
  const answer = await portal.send({ url: `${path}?${query}`, headers: { 'sec-fetch-site': 'cross-site' } });
  return messageAt(String(answer.headers.location), certificate).xml;
}

async function oidcLogout(claims: Record<string, unknown> = {}): Promise<number> {
  return (await postLogoutToken(portal, await logoutToken(portal, op, claims))).statusCode;
}

it('SA-46 a SAML logout between an answer and its end leaves nobody signed in', async () => {
  const brought = await broughtAnswer();
  expect(await samlLogout()).toContain('status:Success"');
  const end = await browser.get(String(brought.headers.location), crossSite);
  expect(end.headers.location).toBe('/portal/loginfail/saml');
  expect((await lastFailure(portal))?.reason).toBe('provider-session-over');
  expect(await portal.sql`select from session`).toHaveLength(0);
});

it('SA-46 a later sign-in at the provider, or another person’s, still succeeds', async () => {
  await samlLogout(whom('bob@acme.test'));
  await browser.get(String((await broughtAnswer()).headers.location), crossSite);
  expect(await who()).toBe('alice');
  await samlLogout();
  expect(await who()).not.toBe('alice');
  portal.wait(1000);
  await browser.get(String((await broughtAnswer()).headers.location), crossSite);
  expect(await who()).toBe('alice');
});

it('SA-46 a logout of one session at the provider leaves another’s answer valid', async () => {
  const at = new Date(portal.deps.now().getTime() - 1000).toISOString();
  const authn = `<saml:AuthnStatement AuthnInstant="${at}" SessionIndex="_s1"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>`;
  for (const [session, isIn] of [
    ['_s2', true],
    ['_s1', false],
  ] as const) {
    const answer = samlAnswer(portal, acme, samlRequestAt(await departFor(browser)), { authn });
    const brought = await postSamlAnswer(portal, browser, answer);
    await samlLogout(whom('alice@acme.test', session));
    await browser.get(String(brought.headers.location), crossSite);
    expect((await who()) === 'alice', session).toBe(isIn);
    browser = browserForTest(portal);
  }
});

it('OI-36 a logout token during the code exchange leaves nobody signed in', async () => {
  const visit = op.visit(await departFor(browser, 'opal@op.test'));
  let status = 0;
  op.bend({
    claims: (honest) => ({ ...honest, email: undefined }),
    instead: {
      userInfo: async (response) => {
        status = await oidcLogout();
        const claims = { sub: 'subject of alice', email: 'opal@op.test', email_verified: true };
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(claims));
      },
    },
  });
  await browser.get(pathOf(visit));
  op.bend({ instead: {} });
  expect(status).toBe(200);
  expect((await lastFailure(portal))?.reason).toBe('provider-session-over');
  expect(await portal.sql`select from session`).toHaveLength(0);
});

it('OI-36 a logout token with sub and sid ends a session whose sid is unknown', async () => {
  await browser.get(pathOf(op.visit(await departFor(browser, 'opal@op.test'))));
  expect(await who()).toBe('opal');
  expect(await oidcLogout({ sid: 'S', sub: 'subject of bob' })).toBe(200);
  expect(await who()).toBe('opal');
  expect(await oidcLogout({ sid: 'S' })).toBe(200);
  expect(await portal.sql`select from session`).toHaveLength(0);
});

it('SA-46 a logout during the check of a second factor waits for it, then ends the new session', async () => {
  await portal.sql`update customer set two_factor = 'app'`;
  const secret = await giveApp(portal, 'alice');
  await browser.get(String((await broughtAnswer()).headers.location), crossSite);
  const release = await holdRows(portal.sql, (sql) => sql`lock table device in access exclusive mode`);
  const verifying = verify(portal, codeNow(portal, secret), browser.cookies);
  await untilWaiting(portal.sql, 1);
  const logout = samlLogout();
  await Promise.race([logout, untilWaiting(portal.sql, 2)]);
  await release();
  const [verified, xml] = await Promise.all([verifying, logout]);
  expect(xml).toContain('status:Success"');
  expect(cookiesOf(verified)['vestibule-session']).toBeDefined();
  expect(await portal.sql`select from session`).toHaveLength(0);
});

it('a logout is forgotten once no earlier answer would be accepted', async () => {
  await samlLogout();
  expect(limits.providerLogoutKept).toBeGreaterThan(limits.samlAssertionAge + 2 * limits.providerClock);
  portal.wait(limits.providerLogoutKept - 1000);
  await keepHouse(portal.deps);
  expect(await portal.sql`select from provider_logout`).toHaveLength(1);
  portal.wait(1000);
  await keepHouse(portal.deps);
  expect(await portal.sql`select from provider_logout`).toHaveLength(0);
});
