import { deflateRawSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { field, partSignature } from '#test/forgeries/forged-saml.ts';
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
import { oneOfEach } from '#test/support/runs-all.ts';
import { authnStatement, crossSite, signInBySaml } from '#test/support/saml-for-test.ts';
import { type BrowserForTest, browserForTest, lastFailure } from '#test/support/sso-for-test.ts';
import { ssoOfFile } from '#test/support/sso-of-file.ts';
import { tokenHash } from '../../crypto/token.ts';
import { portalKeys } from '../portal-keys.ts';

const path = '/portal/authenticate/saml/logout';
const there = {
  url: 'https://idp.acme.test/slo?tenant=1',
  responseUrl: 'https://idp.acme.test/slo-answers',
  binding: 'redirect',
} as const;

const { portal, idps } = ssoOfFile({
  people: ['alice', 'bob', { username: 'zoe', email: 'zoe@beta.test', customers: ['beta'] }],
  saml: { acme: { logout: there }, beta: { key: 'beta-saml', customerKey: 'beta', domains: ['beta.test'] } },
});
const { acme, beta } = idps;
let certificate: string;
beforeAll(async () => {
  [{ certificate }] = await portalKeys(portal.deps);
});

const isIn = async (of: BrowserForTest) => (await of.get('/portal/session')).statusCode === 200;
/** Signs a person in by their provider, which names its session. */
async function signIn(email = 'alice@acme.test', { session = '_s1', provider = acme } = {}): Promise<BrowserForTest> {
  const browser = browserForTest(portal);
  const authn = authnStatement(portal.deps.now(), { SessionIndex: session });
  await signInBySaml(portal, provider, browser, { email, authn });
  expect(await isIn(browser)).toBe(true);
  return browser;
}
const setLogout = (binding: 'post' | null) =>
  binding
    ? portal.sql`update sso_connection set settings = jsonb_set(settings, '{logout,binding}', '"post"') where key = 'acme-saml'`
    : portal.sql`update sso_connection set settings = settings - 'logout'`;

const scene = (of = acme): LogoutScene => ({
  key: of.key,
  now: portal.deps.now(),
  entityId: of.entityId,
  destination: `http://localhost:8080${path}`,
});
const xmlOf = (parts: LogoutParts = {}, of = acme) => logoutXml(scene(of), parts);
const query = (parts: LogoutParts = {}, more: Parameters<typeof redirected>[2] = {}) =>
  redirected(scene(), xmlOf(parts), more);
const form = (parts: LogoutParts = {}, more = {}) => posted(scene(), xmlOf(parts), more);
/** The provider's page has a browser come here, from another site, so without our cookies. */
const headers = { ...crossSite.headers, 'sec-fetch-mode': 'navigate', accept: 'text/html' };
const follow = (query: string) => portal.send({ url: `${path}?${query}`, headers });
const post = (form: Record<string, string>) => portal.send({ method: 'POST', url: path, form, headers });
const ask = (...parts: Parameters<typeof query>) => follow(query(...parts));

const eventsNamed = (event: string) =>
  portal.sql`select username, connection, steps from audit_event where event = ${event} order by id`;
const lastRefusal = async () => (await eventsNamed('provider-logout-refused')).at(-1)?.steps[0]?.outcome;
const answerAt = (location: unknown) => messageAt(String(location), certificate);

describe('a provider that begins', () => {
  it('ends the named person’s sessions, and is answered by redirect, signed', async () => {
    const sessions = [await signIn(), await signIn(), await signIn('bob@acme.test')];
    const answer = await ask({ id: '_request7' }, { relayState: 'a state/of+theirs&more' });
    expect(await Promise.all(sessions.map(isIn))).toEqual([false, false, true]);
    expect(answer.headers.location).toMatch(/^https:\/\/idp\.acme\.test\/slo-answers\?SAMLResponse=/);
    const { xml, relayState } = answerAt(answer.headers.location);
    expect(relayState).toBe('a state/of+theirs&more');
    for (const part of [`Destination="${there.responseUrl}"`, 'InResponseTo="_request7"', 'status:Success"'])
      expect(xml).toContain(part);
    const steps = [{ step: 'sessions', outcome: '2 ended' }];
    expect(await eventsNamed('signed-out-by-provider')).toEqual([
      { username: 'alice', connection: 'acme-saml', steps },
    ]);
  });

  it('ends them by a form post without cookies, and is answered by a form if it takes no redirect', async () => {
    await setLogout('post');
    const one = await signIn();
    const answer = await post(form({}, { relayState: 'state' }));
    expect([answer.statusCode, await isIn(one)]).toEqual([200, false]);
    expect(answer.headers['content-security-policy']).toContain("form-action 'self' https://idp.acme.test;");
    expect(answer.body).toContain(`action="${there.responseUrl}"`);
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
    const inside = whom('zoe@beta.test');
    await ask({ inside });
    const asBeta = xmlOf({ inside }, beta);
    await follow(redirected(scene(), asBeta));
    await portal.sql`update session set connection_id = null`;
    await follow(redirected(scene(beta), asBeta));
    expect(await isIn(zoe)).toBe(true);
  });

  it('reports success if nobody is signed in any more, and leads to the login page if it cannot answer', async () => {
    expect(answerAt((await ask()).headers.location).xml).toContain('status:Success"');
    await setLogout(null);
    portal.wait(1000);
    const one = await signIn();
    expect([(await ask()).headers.location, await isIn(one)]).toEqual(['/portal/login', false]);
  });
});

/** Everything that must end nothing: the message, and what the record says. */
type Forgery = [name: string, send: () => ReturnType<typeof follow>, words: RegExp];
const ago = (time: number) => new Date(portal.deps.now().getTime() - time).toISOString();
const signedXml = () => Buffer.from(form().SAMLRequest ?? '', 'base64').toString();
const packed = (text: string | Buffer) => encodeURIComponent(deflateRawSync(text).toString('base64'));
const wrong = /signature is invalid/;
const sha1 = 'http://www.w3.org/2000/09/xmldsig#rsa-sha1';
const instead = (message: string | Buffer) => query().replace(/SAMLRequest=[^&]*/, `SAMLRequest=${packed(message)}`);
const moved = () => {
  const { signature, rest } = partSignature(signedXml());
  return rest.replace('</saml:Issuer>', `</saml:Issuer>${signature}`).replace(/ ID="[^"]+"/, ' ID="_other"');
};
const issuer = (name: string) => ({ issuer: `<saml:Issuer>${name}</saml:Issuer>` });

const forgeries: Forgery[] = [
  ['unsigned, by redirect', () => follow(query().replace(/&Signature=.*/, '')), /not signed/],
  ['unsigned, by post', () => post({ SAMLRequest: field(xmlOf()) }), wrong],
  ['signed by SHA-1', () => ask({}, { algorithm: sha1, hash: 'sha1' }), wrong],
  ["signed by another provider's key", () => follow(redirected(scene(beta), xmlOf())), wrong],
  ["signed by another provider's key, by post", () => post(posted(scene(beta), xmlOf())), wrong],
  ['with another message under the same signature', () => follow(instead(xmlOf())), wrong],
  ['with a RelayState that is not signed', () => follow(`${query()}&RelayState=x`), wrong],
  ['with two messages', () => follow(`SAMLRequest=${packed(xmlOf())}&${query()}`), /SAMLRequest is there twice/],
  ['and nothing else', () => follow(''), /neither a single request nor a single answer/],
  ['that is a bomb', () => follow(instead(Buffer.alloc(6_000_000))), /cannot be decompressed/],
  ['with a comment in the name', () => ask({ inside: whom('alice@acme.test<!-- -->.evil') }), /comment/],
  ['with a signature over another element', () => post({ SAMLRequest: field(moved()) }), wrong],
  ['of another issuer', () => ask(issuer('https://x.test')), /no connection has the issuer/],
  ['with two issuers', () => ask({ issuer: issuer(acme.entityId).issuer.repeat(2) }), /one Issuer/],
  ['for somebody else', () => ask({ destination: ' Destination="https://x.test/"' }), /Destination is "https:\/\/x/],
  ['for nobody', () => ask({ destination: '' }), /Destination is nothing/],
  ['with two names', () => ask({ inside: whom('alice@acme.test') + whom('bob@acme.test') }), /one NameID/],
];

/** Genuine messages of the provider that are refused: it gets an answer. */
const late: [name: string, parts: () => LogoutParts, words: RegExp][] = [
  ['too old', () => ({ issuedAt: ago(limits.samlAssertionAge + limits.providerClock) }), /too old/],
  ['of the future', () => ({ issuedAt: ago(-limits.providerClock - 1000) }), /in the future/],
  ['of no time', () => ({ issuedAt: 'yesterday' }), /not a time/],
  ['over by its own word', () => ({ end: ` NotOnOrAfter="${ago(limits.providerClock)}"` }), /ended at/],
  ['unreadable', () => ({ inside: '<saml:NameID><a/>alice@acme.test</saml:NameID>' }), /cannot be read/],
];

describe('what ends nothing', () => {
  it.each(oneOfEach(forgeries, ([, , words]) => String(words)))('SA-36 a request %s', async (_, send, words) => {
    const one = await signIn();
    expect((await send()).headers.location).toBe('/portal/logout?confirm=');
    expect([await lastRefusal(), await isIn(one)]).toEqual([expect.stringMatching(words), true]);
  });

  it.each(oneOfEach(late, () => 'late'))(
    'SA-36 a request that is %s: the provider is told',
    async (_, parts, words) => {
      const one = await signIn();
      expect(answerAt((await ask(parts())).headers.location).xml).toContain('status:Requester"');
      expect([await lastRefusal(), await isIn(one)]).toEqual([expect.stringMatching(words), true]);
    },
  );

  it('SA-36 a request used before, by either binding: it gets the same answer, and ends nothing more', async () => {
    const xml = xmlOf();
    await follow(redirected(scene(), xml));
    portal.wait(1000);
    const one = await signIn();
    expect(answerAt((await follow(redirected(scene(), xml))).headers.location).xml).toContain('status:Success"');
    await post(posted(scene(), xml));
    expect([await isIn(one), await eventsNamed('provider-logout-refused')]).toEqual([true, []]);
  });

  it('many slow an address down, but not a genuine one: any page open there can send them', async () => {
    const one = await signIn();
    for (let count = 0; count < limits.throttle.costly.freeFailures; count += 1) await follow('SAMLRequest=x');
    const answer = await follow('SAMLRequest=x');
    expect([answer.statusCode, Number(answer.headers['retry-after']) > 0]).toEqual([429, true]);
    expect((await lastFailure(portal))?.steps[0]?.outcome).toMatch(/^refused logouts from this address: wait until/);
    await ask();
    expect(await isIn(one)).toBe(false);
  });
});

describe('a person who signs out here', () => {
  const signOut = (of: BrowserForTest) => of.post('/portal/logout', {});
  const incomplete = '/portal/login?notice=signOutIncomplete';

  it('SA-41 is signed out at once, and led on with a signed request that names the session', async () => {
    const one = await signIn();
    const cookies = { ...one.cookies };
    const page = await signOut(one);
    expect(page.body).toContain('You’re signed out here');
    expect((await portal.send({ url: '/portal/session', cookies })).statusCode).toBe(401);
    const [, address = ''] = /http-equiv="refresh" content="0;url=([^"]+)"/.exec(page.body) ?? [];
    const url = address.replaceAll('&#38;', '&');
    expect(url).toMatch(/^https:\/\/idp\.acme\.test\/slo\?tenant=1&SAMLRequest=/);
    const { xml } = answerAt(url);
    expect(xml).toMatch(/ ID="_[0-9a-f]{32,}".*Destination="https:\/\/idp\.acme\.test\/slo\?tenant=1"/);
    expect(xml).toMatch(/:persistent">alice@acme.test<\/saml:NameID><samlp:SessionIndex>_s1<\/samlp:SessionIndex>/);
  });

  it('is led on by a form if the provider takes no redirect; not at all if it offers nothing', async () => {
    await setLogout('post');
    const page = await signOut(await signIn());
    expect(page.headers['content-security-policy']).toContain("form-action 'self' https://idp.acme.test;");
    expect(page.body).toMatch(/name="SAMLRequest" value="[^"]+"/);
    const one = await signIn();
    await setLogout(null);
    expect((await signOut(one)).headers.location).toBe('/portal/login');
  });

  it.each([
    [['Success'], '/portal/login'],
    [['Success', 'PartialLogout'], incomplete],
    [['Responder'], incomplete],
  ])('is told afterwards if the provider’s answer is not that everything ended: %j', async (codes, page) => {
    const one = await signIn();
    const parts: LogoutParts = { kind: 'LogoutResponse', inResponseTo: '_ours', inside: statusOf(...codes) };
    const answers = [await ask(parts, { name: 'SAMLResponse' }), await post(form(parts, { name: 'SAMLResponse' }))];
    expect(answers.map(({ headers }) => headers.location)).toEqual([page, page]);
    expect([await isIn(one), (await follow('SAMLResponse=x')).headers.location]).toEqual([true, incomplete]);
  });
});
