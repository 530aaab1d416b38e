import { beforeEach, describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import type { PortalForTest } from '#test/support/portal-for-test.ts';
import { otherInstanceOfFile, portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import { runsAll } from '#test/support/runs-all.ts';
import {
  acs,
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
  lastFailure,
} from '#test/support/sso-for-test.ts';
import { portalKeys } from '../portal-keys.ts';
import { verify } from './verify.ts';
import { readXml } from './xml.ts';

const portal = portalOfFile();
const acme = samlProviderOfFile(portal, 'idp.acme.test');
const beta = samlProviderOfFile(portal, 'idp.beta.test');
const second = otherInstanceOfFile(portal);

let browser: BrowserForTest;
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addCustomer(portal, 'beta');
  await addUser(portal, { username: 'alice' });
  await addUser(portal, { username: 'bob', email: 'bob@beta.test', customers: ['beta'] });
  await addSamlConnection(portal, acme);
  await addSamlConnection(portal, beta, { key: 'beta-saml', customerKey: 'beta', domains: ['beta.test'] });
  browser = browserForTest(portal);
});

const acsPath = new URL(acs).pathname;
const sessions = async () => (await portal.sql`select from session where stage = 'full'`).length;
const failed = /^\/portal\/loginfail\/saml(?:\?|$)/;

const post = (form: Record<string, string>, to: PortalForTest = portal, from = browser) =>
  postSamlAnswer(to, from, form);

async function expectRefused(answer: { headers: Record<string, unknown> }, reason: string): Promise<void> {
  expect(answer.headers.location).toMatch(failed);
  expect((await lastFailure(portal))?.reason).toBe(reason);
  expect(await sessions()).toBe(0);
}

const request = async (username?: string, form?: Record<string, string>) =>
  samlRequestAt(await departFor(browser, username, form));

describe('the way in', () => {
  it('SA-41 leads from the form to the provider and over its post back to the destination, including the fragment', async () => {
    const asked = await request(undefined, { redirectURL: '/portal#/reports/7' });
    expect(asked.id).toMatch(/^_[0-9a-f]{32,}$/);
    const answer = await post(samlAnswer(portal, acme, asked));
    expect(answer.headers.location).toBe('/portal#/reports/7');
    expect((await browser.get('/portal/portal.html')).body).toContain('alice@acme.test');
    expect(await sessions()).toBe(1);
  });

  it('SA-41 leads on by a form, with a policy for this provider only, if it takes no request by redirect', async () => {
    await portal.sql`update sso_connection set settings = settings || '{"signOnBinding": "post"}'`;
    const pressed = await browser.post('/portal/authenticate/performSsoLogin', { username: 'alice@acme.test' });
    const page = await browser.get(String(pressed.headers.location));
    expect(page.body).not.toContain('http-equiv="refresh"');
    const [, action] = /<form [^>]*action="([^"]+)"/.exec(page.body) ?? [];
    expect(action).toBe(`${acme.entityId}/sign-on`);
    expect(page.body).toMatch(/<button type="submit">[^<]+<\/button><\/form>/);
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
    const answer = await post(samlAnswer(portal, acme, asked));
    expect(answer.headers.location).toBe('/portal/portal.html');
  });

  it('SA-41 the page that leads on by redirect may post only to us', async () => {
    const pressed = await browser.post('/portal/authenticate/performSsoLogin', { username: 'alice@acme.test' });
    const page = await browser.get(String(pressed.headers.location));
    expect(page.body).toContain('http-equiv="refresh"');
    expect(page.headers['content-security-policy']).toContain("; form-action 'self'; ");
  });

  it('serves metadata with the reply address', async () => {
    const answer = await browser.get('/portal/authenticate/saml/metadata');
    expect(answer.headers['content-type']).toContain('application/samlmetadata+xml');
    expect(answer.body).toContain(`Location="${acs}"`);
  });

  it('asks for the second factor, checks the networks and refuses inactive users as a password sign-in does', async () => {
    await portal.sql`update customer set two_factor = 'app'`;
    expect((await post(samlAnswer(portal, acme, await request()))).headers.location).toContain(
      '/twoFactorRegistration',
    );
    await portal.sql`update customer set two_factor = 'off', allowed_networks = '{203.0.113.0/24}'`;
    expect((await post(samlAnswer(portal, acme, await request()))).headers.location).toContain('/loginfail/ip');
    await portal.sql`update customer set allowed_networks = '{}'`;
    await portal.sql`update portal_user set active = false`;
    await expectRefused(await post(samlAnswer(portal, acme, await request())), 'inactive');
  });
});

describe('the answer belongs to one visit of one browser', () => {
  it('SA-26 an answer to no request is refused, and so is one to an expired or unknown request', async () => {
    await expectRefused(await post(samlAnswer(portal, acme, null)), 'provider-began');
    const asked = await request();
    await expectRefused(await post(samlAnswer(portal, acme, { ...asked, state: 'A'.repeat(43) })), 'request-unknown');
    portal.wait(limits.visit);
    second.wait(limits.visit);
    await expectRefused(await post(samlAnswer(portal, acme, asked)), 'request-unknown');
  });

  it("SA-26 SA-29 another provider's answer to the request is refused", async () => {
    await expectRefused(await post(samlAnswer(portal, beta, await request())), 'answer-invalid');
    for (const provider of [acme, beta]) {
      const { id } = await request();
      const { state } = await request('bob@beta.test');
      await expectRefused(await post(samlAnswer(portal, provider, { id, state })), 'answer-invalid');
    }
  });

  it('SA-28 RC-05 an answer posted again makes no second session in any browser, and leads its own on', async () => {
    const form = samlAnswer(portal, acme, await request(undefined, { redirectURL: '/portal/reports' }));
    expect((await post(form)).headers.location).toBe('/portal/reports');
    const stranger = browserForTest(portal);
    expect((await post(form, portal, stranger)).headers.location).toMatch(failed);
    expect((await post(form)).headers.location).toBe('/portal/reports');
    expect(await sessions()).toBe(1);
    await browser.post('/portal/logout', {});
    await expectRefused(await post(form), 'request-unknown');
  });

  it('SA-28 RC-05 ten at once over two instances make one session, twenty times', async () => {
    for (let round = 0; round < (runsAll ? 20 : 2); round += 1) {
      await portal.sql`delete from session`;
      browser = browserForTest(portal);
      const form = samlAnswer(portal, acme, await request());
      const { cookies } = browser;
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          postSamlAnswer(n % 2 ? portal : second, { ...browser, cookies: { ...cookies } }, form),
        ),
      );
      expect(answers.filter(({ headers }) => headers.location === '/portal/portal.html')).toHaveLength(1);
      expect(await sessions()).toBe(1);
    }
  });

  it('SA-45 an answer with several addresses is reported to the operator, and lets nobody in', async () => {
    const values = ['alice@acme.test', 'boss@acme.test'].map(
      (email) => `<saml:AttributeValue>${email}</saml:AttributeValue>`,
    );
    const attributes = `<saml:AttributeStatement><saml:Attribute Name="mail">${values.join('')}</saml:Attribute></saml:AttributeStatement>`;
    const answer = await post(samlAnswer(portal, acme, await request(), { nameId: 'a-1', attributes }));
    await expectRefused(answer, 'unknown-user');
    expect((await lastFailure(portal))?.steps.at(-1)?.outcome).toContain('sends several email addresses');
  });

  it("SA-45 an address that is someone's username finds nobody", async () => {
    await addUser(portal, { username: 'boss@acme.test', email: 'carol@acme.test' });
    const answer = await post(samlAnswer(portal, acme, await request(), { email: 'boss@acme.test' }));
    await expectRefused(answer, 'unknown-user');
    expect(JSON.stringify((await lastFailure(portal))?.steps)).toContain('is the username of boss@acme.test');
    expect(await portal.sql`select from sso_subject`).toHaveLength(0);
  });

  it('an OpenID visit cannot be finished by SAML, nor the reverse', async () => {
    const provider = await startForgedProvider(portal.deps);
    await addOidcConnection(portal, provider, { key: 'acme-oidc', domains: ['oidc.test'] });
    const state = new URL(await departFor(browser, 'a@oidc.test')).searchParams.get('state') ?? '';
    await expectRefused(await post(samlAnswer(portal, acme, { id: '_x', state })), 'connection-disabled');
    const { state: bySaml } = await request();
    await browser.get(`/portal/authenticate/oidc/callback/acme-oidc?state=${bySaml}&code=x`);
    expect((await lastFailure(portal))?.reason).toBe('connection-disabled');
    expect(await sessions()).toBe(0);
    await provider.close();
  });
});

describe('whom a provider may speak for', () => {
  it('SA-30 an address of another domain, or of another customer, signs in nobody', async () => {
    await expectRefused(
      await post(samlAnswer(portal, acme, await request(), { email: 'bob@beta.test' })),
      'foreign-domain',
    );
    await addUser(portal, { username: 'mallory', email: 'mallory@acme.test', customers: ['beta'] });
    await expectRefused(
      await post(samlAnswer(portal, acme, await request(), { email: 'mallory@acme.test' })),
      'unknown-user',
    );
  });

  it('SA-31 a connection disabled during a visit lets nobody in', async () => {
    const form = samlAnswer(portal, acme, await request());
    await portal.sql`update sso_connection set active = false`;
    await expectRefused(await post(form), 'connection-disabled');
  });

  it('SA-40 the key of an account is connection and NameID: the address may change, the NameID may not', async () => {
    const signIn = async (parts: object) =>
      (await post(samlAnswer(portal, acme, await request(), parts))).headers.location;
    expect(await signIn({ nameId: 'n-1' })).toBe('/portal/portal.html');
    expect(await signIn({ nameId: 'n-1', email: 'new-name@acme.test' })).toBe('/portal/portal.html');
    expect(await signIn({ nameId: 'n-2' })).toMatch(failed);
    expect((await lastFailure(portal))?.reason).toBe('other-subject');
  });
});

describe('what comes as an answer', () => {
  it('SA-37 a RelayState that is not ours is neither followed nor shown', async () => {
    for (const state of ['javascript:alert(1)', 'https://evil.example/', '<b>', 'x'.repeat(10_000)]) {
      const answer = await post({ ...samlAnswer(portal, acme, null), RelayState: state });
      await expectRefused(answer, 'provider-began');
      expect(`${answer.headers.location}${answer.body}`).not.toContain(state.slice(0, 20));
    }
  });

  it('SA-38 a field that is doubled, missing, empty or a list is 400; an invalid answer ends on the failure page', async () => {
    const form = new URLSearchParams(samlAnswer(portal, acme, await request())).toString();
    const type = { 'content-type': 'application/x-www-form-urlencoded', ...crossSite.headers };
    const raw = (body: string) => portal.send({ method: 'POST', url: acsPath, body, headers: type });
    for (const body of [`${form}&SAMLResponse=x`, `${form}&RelayState=x`, '', 'SAMLResponse=', 'SAMLResponse[]=x'])
      expect((await raw(body)).statusCode, body.slice(-40)).toBe(400);
    for (const SAMLResponse of ['!!!!', 'x', Buffer.from('no xml').toString('base64')]) {
      await expectRefused(await post({ SAMLResponse }), 'answer-invalid');
      await expectRefused(await post({ SAMLResponse, RelayState: (await request()).state }), 'answer-invalid');
    }
    expect((await raw(`SAMLResponse=${'A'.repeat(limits.samlBodyBytes)}`)).statusCode).toBe(413);
  });

  it('only the reply address accepts posts from other sites, in its exact spelling', async () => {
    const form = samlAnswer(portal, acme, null);
    for (const url of [`${acsPath}/`, `${acsPath}?x`, acsPath.replace('acs', '%61cs'), '/portal/performlogin'])
      expect((await portal.send({ method: 'POST', url, form, ...crossSite })).statusCode, url).toBe(403);
  });
});
