import { deflateRawSync } from 'node:zlib';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { limits, minute } from '#server/limits.ts';
import { encryptedName, field, partSignature } from '#test/forgeries/forged-saml.ts';
import {
  type LogoutParts,
  type LogoutScene,
  logoutXml,
  messageAt,
  posted,
  redirected,
  statusOf,
  whom,
} from '#test/forgeries/forged-saml-logout.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import { oneOfEach } from '#test/support/runs-all.ts';
import { addSamlConnection, crossSite, samlProviderOfFile, signInBySaml } from '#test/support/saml-for-test.ts';
import { type BrowserForTest, browserForTest, lastFailure } from '#test/support/sso-for-test.ts';
import { tokenHash } from '../../crypto/token.ts';
import { makeCertificate, portalKeys } from '../portal-keys.ts';
import type { SamlLogoutService } from '../sso-connection.ts';

const path = '/portal/authenticate/saml/logout';
const here = `http://localhost:8080${path}`;
const there: SamlLogoutService = {
  url: 'https://idp.acme.test/slo?tenant=1',
  responseUrl: 'https://idp.acme.test/slo-answers',
  binding: 'redirect',
};

let certificate: string;
const portal = portalOfFile();
const acme = samlProviderOfFile(portal, 'idp.acme.test');
const beta = samlProviderOfFile(portal, 'idp.beta.test');
beforeAll(async () => {
  [{ certificate }] = await portalKeys(portal.deps);
});

let browser: BrowserForTest;
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addCustomer(portal, 'beta');
  await addUser(portal, { username: 'alice' });
  await addUser(portal, { username: 'bob' });
  await addUser(portal, { username: 'zoe', email: 'zoe@beta.test', customers: ['beta'] });
  await addSamlConnection(portal, acme, { logout: there });
  await addSamlConnection(portal, beta, {
    key: 'beta-saml',
    customerKey: 'beta',
    domains: ['beta.test'],
    logout: { ...there, url: 'https://idp.beta.test/slo', responseUrl: 'https://idp.beta.test/slo' },
  });
  browser = browserForTest(portal);
});

/** Signs a person in by their provider, which names its session. */
async function signIn(email = 'alice@acme.test', { session = '_s1', provider = acme } = {}): Promise<BrowserForTest> {
  const browser = browserForTest(portal);
  const at = new Date(portal.deps.now().getTime() - 1000).toISOString();
  const authn = `<saml:AuthnStatement AuthnInstant="${at}" SessionIndex="${session}"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>`;
  await signInBySaml(portal, provider, browser, { email, authn });
  expect(await isIn(browser)).toBe(true);
  return browser;
}

const isIn = async (of: BrowserForTest) => (await of.get('/portal/session')).statusCode === 200;

const scene = (of = acme, destination = here): LogoutScene => ({
  key: of.key,
  now: portal.deps.now(),
  entityId: of.entityId,
  destination,
});

const navigation = { ...crossSite.headers, 'sec-fetch-mode': 'navigate', accept: 'text/html' };

/** The provider redirects a browser without our cookies here, from another site. */
const follow = (query: string) => portal.send({ url: `${path}?${query}`, headers: navigation });
const post = (form: Record<string, string>) => portal.send({ method: 'POST', url: path, form, headers: navigation });
const ask = (...parts: Parameters<typeof query>) => follow(query(...parts));

const eventsNamed = async (event: string) =>
  await portal.sql<{ username: string | null; connection: string | null; steps: { outcome: string }[] }[]>`
    select username, connection, steps from audit_event where event = ${event} order by id`;
const lastRefusal = async () => (await eventsNamed('provider-logout-refused')).at(-1)?.steps[0]?.outcome;

const answerAt = (location: unknown) => messageAt(String(location), certificate);

describe('a provider that begins', () => {
  it('ends the named person’s sessions, and is answered by redirect, signed', async () => {
    const [one, two, bob] = [await signIn(), await signIn(), await signIn('bob@acme.test')];
    const answer = await ask({ id: '_request7' }, { relayState: 'a state/of+theirs&more' });
    expect(answer.statusCode).toBe(303);
    expect(await Promise.all([one, two, bob].map(isIn))).toEqual([false, false, true]);
    const location = String(answer.headers.location);
    expect(location).toMatch(/^https:\/\/idp\.acme\.test\/slo-answers\?SAMLResponse=/);
    const { xml, relayState } = answerAt(location);
    expect(relayState).toBe('a state/of+theirs&more');
    expect(xml).toContain('InResponseTo="_request7"');
    expect(xml).toContain('Destination="https://idp.acme.test/slo-answers"');
    expect(xml).toContain('status:Success"');
    const outcome = '2 ended';
    expect(await eventsNamed('signed-out-by-provider')).toEqual([
      { username: 'alice', connection: 'acme-saml', steps: [{ step: 'sessions', outcome }] },
    ]);
  });

  it('ends them by a form post without cookies, and is answered by a form if it takes no redirect', async () => {
    await portal.sql`update sso_connection set settings = jsonb_set(settings, '{logout,binding}', '"post"')`;
    const one = await signIn();
    const answer = await post(posted(scene(), logoutXml(scene()), { relayState: 'state' }));
    expect(answer.statusCode).toBe(200);
    expect(await isIn(one)).toBe(false);
    expect(answer.headers['content-security-policy']).toContain("form-action 'self' https://idp.acme.test;");
    expect(answer.body).toContain('action="https://idp.acme.test/slo-answers"');
    expect(answer.body).toContain('name="RelayState" value="state"');
    const [, value = ''] = /name="SAMLResponse" value="([^"]+)"/.exec(answer.body) ?? [];
    expect(Buffer.from(value, 'base64').toString()).toMatch(/<samlp:LogoutResponse .*<Signature .*status:Success"/s);
  });

  it('SA-36 ends only the named one of several sessions, and one whose name there is unknown', async () => {
    const [one, two, old] = [await signIn(), await signIn(undefined, { session: '_s2' }), await signIn()];
    const ofOld = tokenHash(old.cookies['vestibule-session'] ?? '');
    await portal.sql`update session set provider_session_hash = null where token_hash = ${ofOld}`;
    await ask({ inside: whom('alice@acme.test', '_s9', '_s2') });
    expect(await Promise.all([one, two, old].map(isIn))).toEqual([true, false, false]);
  });

  it('SA-30 ends nothing of another connection, and nothing from a password', async () => {
    const zoe = await signIn('zoe@beta.test', { provider: beta });
    const name = 'zoe@beta.test';
    expect((await ask({ inside: whom(name) })).statusCode).toBe(303);
    const asBeta = logoutXml(scene(beta), { inside: whom(name) });
    expect((await follow(redirected(scene(), asBeta))).statusCode).toBe(303);
    expect(await isIn(zoe)).toBe(true);
    await portal.sql`update session set connection_id = null`;
    await follow(redirected(scene(beta), asBeta));
    expect(await isIn(zoe)).toBe(true);
  });

  it('reports success if nobody is signed in any more, and leads to the login page if it cannot answer', async () => {
    expect(answerAt((await ask()).headers.location).xml).toContain('status:Success"');
    await portal.sql`update sso_connection set settings = settings - 'logout'`;
    portal.wait(1000);
    const one = await signIn();
    expect((await ask()).headers.location).toBe('/portal/login');
    expect(await isIn(one)).toBe(false);
  });

  it('decrypts an encrypted NameID', async () => {
    const one = await signIn();
    await ask({ inside: await encryptedName('<saml:NameID>alice@acme.test</saml:NameID>', certificate) });
    expect(await isIn(one)).toBe(false);
  });
});

/** Everything that must end nothing: the message, and what the record says. */
type Forgery = [name: string, send: () => Promise<{ statusCode: number }> | { statusCode: number }, words: RegExp];
const ago = (time: number) => new Date(portal.deps.now().getTime() - time).toISOString();
const query = (parts: LogoutParts = {}, more: Parameters<typeof redirected>[2] = {}) =>
  redirected(scene(), logoutXml(scene(), parts), more);
const form = (parts: LogoutParts = {}, more = {}) => posted(scene(), logoutXml(scene(), parts), more);
const inForm = (xml: string) => ({ SAMLRequest: field(xml) });
const signedXml = () => Buffer.from(form().SAMLRequest ?? '', 'base64').toString();
const packed = (text: string | Buffer) => encodeURIComponent(deflateRawSync(text).toString('base64'));

const byBeta = () => scene(beta);
const xmlOf = (parts: LogoutParts = {}) => logoutXml(scene(), parts);
const wrong = /signature is invalid/;
const noName = /one NameID or EncryptedID/;
const unknown = /no connection has the issuer/;
const sha1 = 'http://www.w3.org/2000/09/xmldsig#rsa-sha1';
const asLogin = () => xmlOf().replaceAll('LogoutRequest', 'AuthnRequest');
const issuerTwice = () => `<saml:Issuer>${acme.entityId}</saml:Issuer>`.repeat(2);
const instead = (message: string | Buffer) => query().replace(/SAMLRequest=[^&]*/, `SAMLRequest=${packed(message)}`);
const wrapped = () => `${whom('alice@acme.test')}<samlp:Extensions>${signedXml()}</samlp:Extensions>`;
const moved = () => {
  const { signature, rest } = partSignature(signedXml());
  return rest.replace('</saml:Issuer>', `</saml:Issuer>${signature}`).replace(/ ID="[^"]+"/, ' ID="_other"');
};

const forgeries: Forgery[] = [
  ['unsigned, by redirect', () => follow(query().replace(/&Signature=.*/, '')), /not signed/],
  ['unsigned, with its algorithm', () => follow(query().replace(/&SigAlg=[^&]*&Signature=.*/, '')), /not signed/],
  ['without its algorithm', () => follow(query().replace(/&SigAlg=[^&]*/, '')), /not signed/],
  ['with an empty signature', () => follow(query().replace(/&Signature=.*/, '&Signature=')), wrong],
  ['unsigned, by post', () => post(inForm(xmlOf())), wrong],
  ['signed by SHA-1', () => ask({}, { algorithm: sha1, hash: 'sha1' }), wrong],
  ['signed by SHA-1, called SHA-256', () => ask({}, { hash: 'sha1' }), wrong],
  ['signed by SHA-1, by post', () => post(form({}, { algorithm: sha1 })), wrong],
  ["signed by another provider's key", () => follow(redirected(byBeta(), xmlOf())), wrong],
  ["signed by another provider's key, by post", () => post(posted(byBeta(), xmlOf())), wrong],
  ['with another message under the same signature', () => follow(instead(xmlOf())), wrong],
  ['with a RelayState that is not signed', () => follow(`${query()}&RelayState=x`), wrong],
  [
    'with another RelayState',
    () => follow(query({}, { relayState: 'a' }).replace('RelayState=a', 'RelayState=b')),
    wrong,
  ],
  ['the same letters written otherwise', () => follow(query().replace(/(SigAlg=[^&]*)%3A/, '$1:')), wrong],
  ['with two messages', () => follow(`SAMLRequest=${packed(xmlOf())}&${query()}`), /SAMLRequest is there twice/],
  ['with two, spelled otherwise', () => follow(`${query()}&SAML%52equest=${packed(xmlOf())}`), /twice, or its name/],
  [
    'a request and an answer',
    () => follow(`${query()}&SAMLResponse=x`),
    /neither a single request nor a single answer/,
  ],
  ['nothing', () => follow(''), /neither a single request nor a single answer/],
  ['a bomb', () => follow(instead(Buffer.alloc(6_000_000))), /cannot be decompressed/],
  ['no base64', () => follow(query().replace(/SAMLRequest=/, 'SAMLRequest=*')), wrong],
  ['not UTF-8', () => follow(query().replace(/SAMLRequest=/, 'SAMLRequest=%ff')), wrong],
  ['a DOCTYPE', () => follow(redirected(scene(), `<!DOCTYPE x>${xmlOf()}`)), /./],
  ['an entity', () => ask({ inside: whom('&alice;') }), /./],
  [
    'a comment inside the name',
    () => ask({ inside: '<saml:NameID>alice@acme.test<!-- x -->.evil</saml:NameID>' }),
    /./,
  ],
  ['a second signed message around the first', () => post(inForm(xmlOf({ inside: wrapped() }))), wrong],
  ['a signature over another element', () => post(inForm(moved())), wrong],
  ['another kind of message', () => follow(redirected(scene(), asLogin())), /not a LogoutRequest/],
  ['of another issuer', () => ask({ issuer: '<saml:Issuer>https://x.test</saml:Issuer>' }), unknown],
  ['without an issuer', () => ask({ issuer: '' }), unknown],
  ['with two issuers', () => ask({ issuer: issuerTwice() }), /one Issuer/],
  ['for somebody else', () => ask({ destination: ' Destination="https://x.test/"' }), /Destination is "https:\/\/x/],
  ['for nobody', () => ask({ destination: '' }), /Destination is nothing/],
  ['for nobody, by post', () => post(form({ destination: '' })), /Destination is nothing/],
  ['of another version', () => ask({ version: '1.1' }), /not of SAML 2.0/],
  ['with two names', () => ask({ inside: whom('alice@acme.test') + whom('bob@acme.test') }), noName],
  ['without a name', () => ask({ inside: '<samlp:SessionIndex>_s1</samlp:SessionIndex>' }), noName],
  ['with a name of another kind', () => ask({ inside: '<saml:BaseID>a</saml:BaseID>' }), noName],
];

/** Genuine messages of the provider that are refused: it gets an answer. */
const late: [name: string, parts: () => LogoutParts, words: RegExp][] = [
  ['too old', () => ({ issuedAt: ago(limits.samlAssertionAge + limits.providerClock) }), /too old/],
  ['of the future', () => ({ issuedAt: ago(-limits.providerClock - 1000) }), /in the future/],
  ['of no time', () => ({ issuedAt: 'yesterday' }), /not a time/],
  ['over by its own word', () => ({ end: ` NotOnOrAfter="${ago(limits.providerClock)}"` }), /ended at/],
  ['over at no time', () => ({ end: ' NotOnOrAfter="never"' }), /ended at/],
  ['an unreadable name', () => ({ inside: '<saml:NameID><a/>alice@acme.test</saml:NameID>' }), /cannot be read/],
];

describe('what ends nothing', () => {
  it.each(oneOfEach(forgeries, ([, , words]) => String(words)))('SA-36 a request %s', async (_, send, words) => {
    const one = await signIn();
    expect((await send()).statusCode).toBe(303);
    expect(await lastRefusal()).toMatch(words);
    expect(await isIn(one)).toBe(true);
  });

  it.each(oneOfEach(late, () => 'late'))(
    'SA-36 a request that is %s, which the provider is told',
    async (_, parts, words) => {
      const one = await signIn();
      expect(answerAt((await ask(parts())).headers.location).xml).toContain('status:Requester"');
      expect(await lastRefusal()).toMatch(words);
      expect(await isIn(one)).toBe(true);
    },
  );

  it('SA-36 a request used before, by either binding: it gets the same answer, and ends nothing more', async () => {
    const xml = logoutXml(scene());
    await follow(redirected(scene(), xml));
    portal.wait(1000);
    const one = await signIn();
    expect(answerAt((await follow(redirected(scene(), xml))).headers.location).xml).toContain('status:Success"');
    await post(posted(scene(), xml));
    expect(await isIn(one)).toBe(true);
    expect(await eventsNamed('provider-logout-refused')).toEqual([]);
  });

  it('SA-36 a request by an expired certificate', async () => {
    const longAgo = new Date(portal.deps.now().getTime() - 4 * 365 * 24 * 3_600_000);
    const key = await makeCertificate('ended', longAgo);
    const one = await signIn();
    await portal.sql`update sso_connection set settings = jsonb_set(settings, '{certificates}', ${JSON.stringify([key.certificate, acme.key.certificate])})`;
    expect((await follow(redirected({ key }, logoutXml(scene())))).statusCode).toBe(303);
    expect(await isIn(one)).toBe(true);
  });

  it('offers people to sign out here; a script gets a problem', async () => {
    expect((await follow('SAMLRequest=x')).headers.location).toBe('/portal/logout?confirm=');
    const script = { accept: 'application/json', 'sec-fetch-mode': 'cors' };
    expect((await portal.send({ url: `${path}?SAMLRequest=x`, headers: script })).headers['content-type']).toContain(
      'problem+json',
    );
  });

  it('slows an address down after many, but not a genuine one: any page open there can send them', async () => {
    const one = await signIn();
    for (let count = 0; count < limits.throttle.costly.freeFailures; count += 1)
      expect((await follow('SAMLRequest=x')).statusCode).toBe(303);
    const answer = await follow('SAMLRequest=x');
    expect(answer.statusCode).toBe(429);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect((await lastFailure(portal))?.steps[0]?.outcome).toMatch(/^refused logouts from this address: wait until/);
    expect((await ask()).statusCode).toBe(303);
    expect(await isIn(one)).toBe(false);
  });
});

describe('a person who signs out here', () => {
  /** Clicks the button; returns where the page leads, and the request's ID. */
  async function signOut(of: BrowserForTest) {
    const page = await of.get('/portal/logout', {
      headers: { 'sec-fetch-site': 'same-origin', ...{ 'sec-fetch-mode': 'navigate' } },
    });
    const [, address = ''] = /http-equiv="refresh" content="0;url=([^"]+)"/.exec(page.body) ?? [];
    const url = address.replaceAll('&#38;', '&');
    return { page, url, id: url ? (/ ID="([^"]+)"/.exec(answerAt(url).xml)?.[1] ?? '') : '' };
  }
  const response = (id: string, parts: LogoutParts = {}, of = acme) =>
    redirected(scene(of), logoutXml(scene(of), { kind: 'LogoutResponse', inResponseTo: id, ...parts }), {
      name: 'SAMLResponse',
    });
  /** Where a browser gets that brings an answer, without our cookies as after a cross-site post. */
  const comeBack = async (answer: string) => (await follow(answer)).headers.location;
  const incomplete = '/portal/login?notice=signOutIncomplete';

  it('SA-41 signs out here at once and leads on with a signed request that names the session', async () => {
    const one = await signIn();
    const cookies = { ...one.cookies };
    const { page, url, id } = await signOut(one);
    expect(page.body).toContain('You’re signed out here');
    expect(page.headers['content-security-policy']).toContain("; form-action 'self'; ");
    expect((await portal.send({ url: '/portal/session', cookies })).statusCode).toBe(401);
    expect(url).toMatch(/^https:\/\/idp\.acme\.test\/slo\?tenant=1&SAMLRequest=/);
    const { xml } = answerAt(url);
    expect(id).toMatch(/^_[0-9a-f]{32,}$/);
    expect(xml).toContain('Destination="https://idp.acme.test/slo?tenant=1"');
    expect(xml).toContain('>alice@acme.test</saml:NameID><samlp:SessionIndex>_s1</samlp:SessionIndex>');
    expect(xml).toContain('Format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"');
    expect(await comeBack(response(id))).toBe('/portal/login');
  });

  it('leads on by a form if the provider takes no redirect, and the answer may be posted without cookies', async () => {
    await portal.sql`update sso_connection set settings = jsonb_set(settings, '{logout,binding}', '"post"')`;
    const one = await signIn();
    const { page } = await signOut(one);
    expect(page.headers['content-security-policy']).toContain("form-action 'self' https://idp.acme.test;");
    const [, value = ''] = /name="SAMLRequest" value="([^"]+)"/.exec(page.body) ?? [];
    const [, id = ''] = / ID="([^"]+)"/.exec(Buffer.from(value, 'base64').toString()) ?? [];
    const parts: LogoutParts = { kind: 'LogoutResponse', inResponseTo: id };
    const answer = await post(posted(scene(), logoutXml(scene(), parts), { name: 'SAMLResponse' }));
    expect(answer.headers.location).toBe('/portal/login');
  });

  it('says so if the provider did not end everything', async () => {
    for (const codes of [['Responder'], ['Responder', 'PartialLogout'], ['Success', 'PartialLogout'], ['Requester']]) {
      expect(await comeBack(response('_ours', { inside: statusOf(...codes) }))).toBe(incomplete);
      portal.wait(minute);
    }
    expect(await eventsNamed('provider-logout-incomplete')).toHaveLength(4);
    expect((await browser.get(incomplete)).body).toContain('close all windows of this browser');
  });

  const forgedAnswers: [name: string, make: () => string, words: RegExp][] = [
    ['is not signed', () => response('_ours').replace(/&Signature=.*/, ''), /not signed/],
    [
      "has another provider's signature",
      () => response('_ours', { issuer: `<saml:Issuer>${acme.entityId}</saml:Issuer>` }, beta),
      /signature is invalid/,
    ],
    ['is for somebody else', () => response('_ours', { destination: ' Destination="https://x.test/"' }), /Destin/],
    ['names an unknown issuer', () => response('_ours', { issuer: '<saml:Issuer>x</saml:Issuer>' }), /issuer/],
    ['is old', () => response('_ours', { issuedAt: ago(limits.samlAssertionAge + limits.providerClock) }), /too old/],
    ['is a request', () => response('_ours', { kind: 'LogoutRequest', inside: whom('x') }), /not a LogoutResponse/],
    ['has no status', () => response('_ours', { inside: '' }), /one Status/],
  ];

  it.each(oneOfEach(forgedAnswers, () => 'answer'))(
    'SA-36 an answer that %s confirms nothing, and ends nothing',
    async (_, make, words) => {
      const one = await signIn();
      expect(await comeBack(make())).toBe(incomplete);
      const [event] = await portal.sql`select steps from audit_event where event like 'provider-logout-%'`;
      expect(event?.steps[0].outcome).toMatch(words);
      expect(await isIn(one)).toBe(true);
    },
  );

  it('stays here if the provider offers nothing, for an older session, and for a half session', async () => {
    const login = { statusCode: 303, headers: { location: '/portal/login' } };
    const one = await signIn();
    await portal.sql`update session set sealed_id_token = null`;
    expect((await signOut(one)).page).toMatchObject(login);
    const two = await signIn();
    await portal.sql`update sso_connection set settings = settings - 'logout'`;
    expect((await signOut(two)).page).toMatchObject(login);
  });
});
