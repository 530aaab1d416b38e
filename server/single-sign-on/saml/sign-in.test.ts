import { beforeEach, describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import {
  acs,
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
  lastFailure,
} from '#test/support/sso-for-test.ts';
import { portalKeys } from '../portal-keys.ts';
import { verify } from './verify.ts';
import { readXml } from './xml.ts';

const portal = portalOfFile();
const acme = samlProviderOfFile(portal, 'idp.acme.test');

let browser: BrowserForTest;
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addCustomer(portal, 'beta');
  await addUser(portal, { username: 'alice' });
  await addUser(portal, { username: 'bob', email: 'bob@beta.test', customers: ['beta'] });
  await addSamlConnection(portal, acme);
  browser = browserForTest(portal);
});

const acsPath = new URL(acs).pathname;
const failed = /^\/portal\/loginfail\/saml(?:\?|$)/;
const post = async (form: Record<string, string>) =>
  String((await postSamlAnswer(portal, browser, form)).headers.location);
const signIn = (said: Parameters<typeof signInBySaml>[3] = {}) =>
  signInBySaml(portal, acme, browser, { typed: 'alice@acme.test', ...said });
const state = async () => samlRequestAt(await departFor(browser)).state;

async function expectRefused(location: string, reason: string): Promise<void> {
  expect(location).toMatch(failed);
  expect((await lastFailure(portal))?.reason).toBe(reason);
  expect(await portal.sql`select from session`).toHaveLength(0);
}

describe('the way to the provider and back', () => {
  it('SA-41 leads from the form to the destination, including the fragment', async () => {
    expect(await signIn({ form: { redirectURL: '/portal#/reports/7' } })).toBe('/portal#/reports/7');
    expect((await browser.get('/portal/portal.html')).body).toContain('alice@acme.test');
  });

  it('SA-41 leads on by a form, with a policy for this provider only, if it takes no request by redirect', async () => {
    await portal.sql`update sso_connection set settings = settings || '{"signOnBinding": "post"}'`;
    const pressed = await browser.post('/portal/authenticate/performSsoLogin', { username: 'alice@acme.test' });
    const page = await browser.get(String(pressed.headers.location));
    const [, action] = /<form [^>]*action="([^"]+)"/.exec(page.body) ?? [];
    expect(action).toBe(`${acme.entityId}/sign-on`);
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("; form-action 'self' https://idp.acme.test; ");
    const elsewhere = await browser.get('/portal/login');
    expect(elsewhere.headers['content-security-policy']).toBe(policy.replace(' https://idp.acme.test', ''));
    const field = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page.body)?.[1] ?? '';
    const reading = readXml(Buffer.from(field('SAMLRequest'), 'base64').toString());
    if (reading.kind === 'refused') throw new Error(reading.problem);
    const [{ certificate }] = await portalKeys(portal.deps);
    const signed = verify(reading.text, reading.root, [certificate]);
    expect(signed.kind === 'ok' && signed.text).toContain(`Destination="${acme.entityId}/sign-on"`);
    const asked = { id: reading.root.getAttribute('ID') ?? '', state: field('RelayState') };
    expect(await post(samlAnswer(portal, acme, asked))).toBe('/portal/portal.html');
  });

  it('asks for the second factor, checks the networks and refuses inactive users as a password sign-in does', async () => {
    await portal.sql`update customer set two_factor = 'app'`;
    expect(await signIn()).toContain('/twoFactorRegistration');
    await portal.sql`delete from session`;
    await portal.sql`update customer set two_factor = 'off', allowed_networks = '{203.0.113.0/24}'`;
    expect(await signIn()).toContain('/loginfail/ip');
    await portal.sql`update customer set allowed_networks = '{}'`;
    await portal.sql`update portal_user set active = false`;
    await expectRefused(await signIn(), 'inactive');
  });

  it('an OpenID visit cannot be finished by SAML, nor the reverse', async () => {
    const provider = await startForgedProvider(portal.deps);
    await addOidcConnection(portal, provider, { key: 'acme-oidc', domains: ['oidc.test'] });
    const byOidc = new URL(await departFor(browser, 'a@oidc.test')).searchParams.get('state') ?? '';
    await expectRefused(await post(samlAnswer(portal, acme, { id: '_x', state: byOidc })), 'connection-disabled');
    await browser.get(`/portal/authenticate/oidc/callback/acme-oidc?state=${await state()}&code=x`);
    expect((await lastFailure(portal))?.reason).toBe('connection-disabled');
    await provider.close();
  });
});

describe('whom a provider may speak for', () => {
  it('SA-30 an address of another domain, or of another customer, signs in nobody', async () => {
    await expectRefused(await signIn({ email: 'bob@beta.test' }), 'foreign-domain');
    await addUser(portal, { username: 'mallory', email: 'mallory@acme.test', customers: ['beta'] });
    await expectRefused(await signIn({ email: 'mallory@acme.test' }), 'unknown-user');
  });

  it('SA-31 a connection disabled during a visit lets nobody in', async () => {
    const form = samlAnswer(portal, acme, samlRequestAt(await departFor(browser)));
    await portal.sql`update sso_connection set active = false`;
    await expectRefused(await post(form), 'connection-disabled');
  });

  it('SA-40 the key of an account is connection and NameID: the address may change, the NameID may not', async () => {
    expect(await signIn({ nameId: 'n-1' })).toBe('/portal/portal.html');
    expect(await signIn({ nameId: 'n-1', email: 'new-name@acme.test' })).toBe('/portal/portal.html');
    expect(await signIn({ nameId: 'n-2' })).toMatch(failed);
    expect((await lastFailure(portal))?.reason).toBe('other-subject');
  });

  it('SA-45 an address that is someone’s username finds nobody, and of several none is used', async () => {
    await addUser(portal, { username: 'boss@acme.test', email: 'carol@acme.test' });
    await expectRefused(await signIn({ email: 'boss@acme.test' }), 'unknown-user');
    expect(JSON.stringify((await lastFailure(portal))?.steps)).toContain('is the username of boss@acme.test');
    const value = (email: string) => `<saml:AttributeValue>${email}</saml:AttributeValue>`;
    const values = `${value('alice@acme.test')}${value('boss@acme.test')}`;
    const attributes = `<saml:AttributeStatement><saml:Attribute Name="mail">${values}</saml:Attribute></saml:AttributeStatement>`;
    await expectRefused(await signIn({ nameId: 'a-1', attributes }), 'unknown-user');
    expect((await lastFailure(portal))?.steps.at(-1)?.outcome).toContain('sends several email addresses');
  });
});

describe('what comes as an answer', () => {
  it('SA-37 a RelayState that is not ours is neither followed nor shown', async () => {
    for (const RelayState of ['javascript:alert(1)', 'https://evil.example/', '<b>', 'x'.repeat(10_000)]) {
      const answer = await postSamlAnswer(portal, browser, { ...samlAnswer(portal, acme, null), RelayState });
      await expectRefused(String(answer.headers.location), 'provider-began');
      expect(`${answer.headers.location}${answer.body}`).not.toContain(RelayState.slice(0, 20));
    }
  });

  it('SA-38 a field that is doubled, missing, empty or a list is 400; an invalid answer ends on the failure page', async () => {
    const form = new URLSearchParams({ ...samlAnswer(portal, acme, null), RelayState: 'x' }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded', ...crossSite.headers };
    const raw = (body: string) => portal.send({ method: 'POST', url: acsPath, body, headers });
    for (const body of [`${form}&SAMLResponse=x`, `${form}&RelayState=x`, '', 'SAMLResponse=', 'SAMLResponse[]=x'])
      expect((await raw(body)).statusCode, body.slice(-40)).toBe(400);
    for (const SAMLResponse of ['!!!!', 'x', Buffer.from('no xml').toString('base64')]) {
      await expectRefused(await post({ SAMLResponse }), 'answer-invalid');
      await expectRefused(await post({ SAMLResponse, RelayState: await state() }), 'answer-invalid');
    }
    expect((await raw(`SAMLResponse=${'A'.repeat(limits.samlBodyBytes)}`)).statusCode).toBe(413);
  });

  it('only the reply address accepts posts from other sites, in its exact spelling', async () => {
    const form = samlAnswer(portal, acme, null);
    for (const url of [`${acsPath}/`, `${acsPath}?x`, acsPath.replace('acs', '%61cs'), '/portal/performlogin'])
      expect((await portal.send({ method: 'POST', url, form, ...crossSite })).statusCode, url).toBe(403);
  });
});
