import { inflateRawSync } from 'node:zlib';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyTables } from '#testing/empty-tables.ts';
import { field, forger } from '#testing/forged-saml.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import {
  acs,
  addSamlConnection,
  crossSite,
  ownEntityId,
  postSamlAnswer,
  type SamlProviderForTest,
  samlAnswer,
  samlProvider,
  samlRequestAt,
} from '#testing/saml-sign-in-for-test.ts';
import { type BrowserForTest, browserForTest, departFor } from '#testing/sso-for-test.ts';

let acme: SamlProviderForTest;
const portal = portalOfFile();
beforeAll(async () => {
  acme = await samlProvider('idp.acme.test', portal.deps.now());
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
  await addSamlConnection(portal, acme);
});

let browser: BrowserForTest;
beforeEach(async () => {
  await emptyTables(portal, 'session', 'sso_request', 'sso_subject', 'audit_event', 'throttle');
  browser = browserForTest(portal);
  await browser.post('/portal/logout', {});
});

const forced = (url: string) => {
  const request = new URL(url).searchParams.get('SAMLRequest') ?? '';
  return inflateRawSync(Buffer.from(request, 'base64')).toString().includes('ForceAuthn="true"');
};
const asking = /^\/portal\/authenticate\/other-account\?request=/;
const sessions = async () => (await portal.sql`select from session`).length;
/** The provider answers with an error, signed or not. */
const refuse = async (url: string, code: string) => {
  const { id, state } = samlRequestAt(url);
  const { entityId, key } = acme;
  const made = forger({ key, now: portal.deps.now(), entityId, acs, audience: ownEntityId, requestId: id });
  const inner = `<samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:${code}"/>`;
  const status = `<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Responder">${inner}</samlp:StatusCode></samlp:Status>`;
  return await postSamlAnswer(portal, browser, {
    SAMLResponse: field(made.response('', { status })),
    RelayState: state,
  });
};
/** The person comes back, having signed in at the provider this long ago, in milliseconds. */
const comeBack = async (url: string, ago: number) => {
  const { entityId, key } = acme;
  const now = portal.deps.now();
  const request = samlRequestAt(url);
  const made = forger({ key, now, entityId, acs, audience: ownEntityId, requestId: request.id });
  const authn = made.authn({ AuthnInstant: new Date(now.getTime() - ago).toISOString() });
  const posted = await postSamlAnswer(portal, browser, samlAnswer(portal, acme, request, { authn }));
  return await browser.get(String(posted.headers.location), crossSite);
};

it('a provider that cannot make a fresh sign-in is asked for an ordinary one, whose answer asks here', async () => {
  const first = await departFor(browser);
  expect(forced(first)).toBe(true);
  expect((await refuse(first, 'RequestUnsupported')).headers.location).toMatch(/^\/portal\/loginfail\/saml/);
  const second = await departFor(browser);
  expect(forced(second)).toBe(false);
  expect((await comeBack(second, 3_600_000)).headers.location).toMatch(asking);
  expect(await sessions()).toBe(0);
});

it('SE-15 a sign-in that the person did not do there is asked for again', async () => {
  for (const again of [1, 2]) {
    const url = await departFor(browser);
    expect(forced(url), String(again)).toBe(true);
    await refuse(url, 'AuthnFailed');
  }
});

it('SE-15 an answer to ForceAuthn that tells an earlier sign-in asks here', async () => {
  expect((await comeBack(await departFor(browser), 3_600_000)).headers.location).toMatch(asking);
  expect(await sessions()).toBe(0);
  expect((await comeBack(await departFor(browser), 1000)).headers.location).toBe('/portal/portal.html');
});
