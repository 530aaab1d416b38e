import { beforeAll, beforeEach, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyTables } from '#testing/empty-tables.ts';
import { startForgedProvider } from '#testing/forged-openid-provider.ts';
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
  await emptyTables(
    portal,
    'session',
    'signed_out_session',
    'sent_saml_logout',
    'audit_event',
    'throttle',
    'sso_request',
  );
  browser = browserForTest(portal);
});

const byOidc = async () => await browser.get(pathOf(oidc.visit(await departFor(browser, 'opal@op.test'))));
const bySaml = async () => {
  const request = samlRequestAt(await departFor(browser));
  const posted = await postSamlAnswer(portal, browser, samlAnswer(portal, saml, request));
  await browser.get(String(posted.headers.location), crossSite);
};
const press = async (cookies: Record<string, string>) =>
  await portal.send({ method: 'POST', url: '/portal/logout', cookies });
const leadsTo = (body: string) => /http-equiv="refresh" content="0;url=([^"?]+)/.exec(body)?.[1];

const ways = [
  ['OpenID Connect', byOidc, () => `${oidc.issuer}/end`],
  ['SAML', bySaml, () => 'https://idp.acme.test/slo'],
] as const;

it.each(ways)(
  'a sign-out that is pressed twice leads through the provider (%s) each time',
  async (_, signIn, there) => {
    await signIn();
    // The browser drops the first answer, so it still has the old cookies.
    const held = { ...browser.cookies };
    const [first, ...more] = [await press(held), ...(await Promise.all([press(held), press(held)]))];
    expect(leadsTo(first?.body ?? '')).toBe(there());
    for (const again of more) expect(leadsTo(again.body)).toBe(there());
    expect(await portal.sql`select from audit_event where event = 'signed-out'`).toHaveLength(1);
  },
);

it('the answer of a SAML provider counts for the request that the browser followed last', async () => {
  await bySaml();
  const held = { ...browser.cookies };
  const [first, second] = [await press(held), await press(held)];
  const tokens = [first, second].map(
    ({ cookies }) => cookies.find(({ name }) => name === 'vestibule-sent-logout')?.value,
  );
  expect(new Set(tokens).size).toBe(2);
  expect(await portal.sql`select from sent_saml_logout`).toHaveLength(2);
});

it.each(ways)('SE-09 half a minute later the token of an ended session (%s) shows nothing of it', async (_, signIn) => {
  await signIn();
  const held = { ...browser.cookies };
  await press(held);
  portal.wait(limits.signOutKept);
  expect((await press(held)).headers.location).toBe('/portal/login');
});

it('SE-09 nothing of an ended session is shown without its token, to its own browser or to another', async () => {
  await byOidc();
  const held = { ...browser.cookies };
  await press(held);
  const { 'vestibule-session': token = '', ...rest } = held;
  for (const cookies of [rest, { ...rest, 'vestibule-session': 'A'.repeat(43) }, { 'vestibule-device': token }])
    expect((await press(cookies)).headers.location).toBe('/portal/login');
  expect((await portal.send({ url: '/portal/session', cookies: held })).statusCode).toBe(401);
});

it('SE-09 nothing is left of a session whose user is removed meanwhile', async () => {
  await addUser(portal, { username: 'gone', email: 'gone@op.test' });
  oidc.bend({ claims: (honest) => ({ ...honest, sub: 'gone', email: 'gone@op.test' }) });
  await browser.get(pathOf(oidc.visit(await departFor(browser, 'gone@op.test'))));
  const held = { ...browser.cookies };
  expect(leadsTo((await press(held)).body)).toBe(`${oidc.issuer}/end`);
  await portal.sql`delete from portal_user where username = 'gone'`;
  expect((await press(held)).headers.location).toBe('/portal/login');
});
