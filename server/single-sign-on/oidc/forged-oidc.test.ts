import { KeyObject, sign } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type Bend,
  type KeyOfProvider,
  newKey,
  signed,
  startForgedProvider,
  unsigned,
} from '#test/providers/forged-openid-provider.ts';
import { portalOfFile, sharedByFile } from '#test/support/portal-of-file.ts';
import { oneOfEach } from '#test/support/runs-all.ts';
import { oidcConnection, startVisit, visitProvider } from '#test/support/sso-for-test.ts';
import type { Deps } from '../../deps.ts';
import type { OidcConnection } from '../sso-connection.ts';
import { readOidcAnswer } from './callback-route.ts';
import { readDiscovery } from './read-discovery.ts';

let foreign: KeyOfProvider;
let connection: OidcConnection;
/** Each test begins with nothing remembered of the provider. */
let deps: Deps;
const portal = portalOfFile();
const provider = sharedByFile(() => startForgedProvider(portal.deps));
beforeAll(async () => {
  foreign = await newKey('RS256');
});
beforeEach(() => {
  deps = { ...portal.deps, providers: new Map() };
  connection = oidcConnection(deps, provider);
  provider.bend({});
  provider.requests.length = 0;
});

const seconds = () => Math.floor(portal.deps.now().getTime() / 1000);
type Change = Record<string, unknown>;
/** Signs in at the manipulated provider, with an answer that would be accepted if it were honest. */
async function answerTo(bend: Bend) {
  provider.bend(bend);
  return await visitProvider(deps, connection, provider);
}
const claims = (change: Change): Bend => ({ claims: (honest) => ({ ...honest, ...change }) });
const token = (change: Change): Bend => ({ token: (honest) => ({ ...honest, ...change }) });
const callback = (change: (parameters: URLSearchParams) => void): Bend => ({ callback: change });
const discovery = (change: Change): Bend => ({ discovery: (honest) => ({ ...honest, ...change }) });
const idToken = (make: NonNullable<Bend['idToken']>): Bend => ({ idToken: make });
/** Userinfo as a JWT (OpenID Connect Core §5.3.2), signed by a key under the kid of the published one. */
const signedUserInfo = ({ privateKey }: KeyOfProvider, more: Change = {}): Bend => ({
  ...claims({ email: undefined }),
  instead: {
    userInfo: async (response) => {
      const { kid, alg } = provider.key;
      const said = { sub: 'subject of alice', email: 'alice@customer.example', ...more };
      response.writeHead(200, { 'content-type': 'application/jwt' }).end(await signed(said, { kid, alg }, privateKey));
    },
  },
});

describe('an honest answer is accepted', () => {
  it('with what it says of the person', async () => {
    expect(await answerTo({})).toEqual({
      kind: 'ok',
      identity: {
        subject: 'subject of alice',
        sent: expect.arrayContaining(['sub', 'email']),
        emails: ['alice@customer.example'],
        emailVerified: true,
        username: null,
        ...{ language: null, name: null, groups: null },
        authenticationContexts: [],
        authenticatedAt: null,
        sessionEndsAt: null,
        idToken: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      },
    });
    expect(provider.requests).toEqual(['/.well-known/openid-configuration', '/token', '/keys']);
  });

  it.each(['RS512', 'PS256', 'ES384', 'EdDSA'])('signed by %s', async (alg) => {
    const key = await newKey(alg);
    const keys = () => ({ keys: [foreign.jwk, key.jwk] });
    const { kind } = await answerTo({
      keys,
      ...idToken((said) => signed(said, { alg, kid: key.kid }, key.privateKey)),
    });
    expect(kind).toBe('ok');
  });

  it.each<[name: string, bend: () => Bend]>([
    ['with signed userinfo', () => signedUserInfo(provider.key)],
    ['with several audiences and our azp', () => claims({ aud: [provider.clientId, 'other'], azp: provider.clientId })],
    ['from a clock that is 2 minutes ahead', () => claims({ nbf: seconds() + 120 })],
    ['from a clock that is 2 minutes behind', () => claims({ exp: seconds() - 118 })],
  ])('%s', async (_name, bend) => {
    expect(await answerTo(bend())).toMatchObject({ kind: 'ok' });
  });
});

/** The address is in userinfo too. */
it.each<[what: string, email: unknown, emails: string[]]>([
  ['a list of one', ['mia@customer.example'], ['mia@customer.example']],
  [
    'a list of two',
    ['mia@customer.example', 'Mia@Customer.example', 'bo@customer.example'],
    ['mia@customer.example', 'bo@customer.example'],
  ],
  ['with white space around it', 'mia@customer.example \r\n', ['mia@customer.example']],
  ['null', null, ['userinfo@customer.example']],
  ['empty', '', ['userinfo@customer.example']],
  ['in composed letters', 'ju\u0308rgen@customer.example', ['j\u00fcrgen@customer.example']],
  ['with a no-break space', 'mia@customer.example\u00a0', ['mia@customer.example\u00a0']],
])('an address: %s', async (_what, email, emails) => {
  const userInfo = (honest: Change) => ({ ...honest, email: 'userinfo@customer.example' });
  expect(await answerTo({ ...claims({ email }), userInfo })).toMatchObject({
    identity: { emails, emailVerified: true },
  });
});

it.each<[string, Bend]>([
  ['members of the token', token({ expires_in: '', refresh_token: null, scope: ['openid', 'email'] })],
  ['members of userinfo', { ...claims({ email: '' }), userInfo: (honest) => ({ ...honest, zoneinfo: null }) }],
  ['a key', { keys: () => ({ keys: [null, provider.key.jwk] }) }],
])('what nobody reads may be empty: %s', async (_what, bend) => {
  expect(await answerTo(bend)).toMatchObject({ kind: 'ok', identity: { emails: ['alice@customer.example'] } });
});

const hs256 = (key: string, kid?: string) =>
  idToken((said) => signed(said, { alg: 'HS256', ...(kid && { kid }) }, new Uint8Array(Buffer.from(key))));
const byForeign = (more: Change) => idToken((said, head) => signed(said, { ...head, ...more }, foreign.privateKey));
const published = (more: Change): Bend => ({ keys: () => ({ keys: [{ ...provider.key.jwk, ...more }] }) });
const oct = { kty: 'oct', k: 'c2VjcmV0', kid: 'shared', alg: 'HS256' };
async function ofAnother(said: Change, head: Change): Promise<string> {
  const other = await signed({ ...said, sub: 'mallory' }, head, provider.key.privateKey);
  return unsigned(said, head, other.split('.')[2]);
}
/** An ID token with other text in its header or after its end, honestly signed. */
const written = (more: string, after = '') =>
  idToken((said, head) => {
    const texts = [JSON.stringify(head).replace(/\}$/, `${more}}`), JSON.stringify(said)];
    const data = texts.map((text) => Buffer.from(text).toString('base64url')).join('.');
    const signature = sign('sha256', Buffer.from(data), KeyObject.from(provider.key.privateKey));
    return `${data}.${signature.toString('base64url')}${after}`;
  });
const userInfo = (more: Change): Bend => ({
  ...claims({ email: undefined }),
  userInfo: (honest) => ({ ...honest, ...more }),
});

/** A forgery, and the words that tell the operator which check found it. */
const forgeries: [name: string, bend: () => Bend | Promise<Bend>, words: RegExp][] = [
  ['OI-04 a wrong iss parameter', () => callback((query) => query.set('iss', 'https://evil.example')), /"iss"/],
  ['OI-04 none', () => discovery({ authorization_response_iss_parameter_supported: true }), /missing/],
  ['OI-01 another state', () => callback((query) => query.set('state', 'other')), /unexpected "state"/],
  ['OI-13 no code', () => callback((query) => query.delete('code')), /no authorization code/],
  ['OI-13 an unknown code', () => callback((query) => query.set('code', 'made up')), /accept the code: invalid_grant/],
  [
    'OI-12 an ID token in the address',
    () => callback((query) => query.set('id_token', 'a.b.c')),
    /implicit and hybrid/,
  ],
  ['OI-06 alg none', () => idToken((said) => unsigned(said, { alg: 'none' })), /"alg" header.*accepted are RS256/],
  ['OI-06 the signature of another token', () => idToken(ofAnother), /signature verification failed/],
  ['OI-07 HS256 by the client secret', () => hs256(provider.clientSecret), /"alg" header/],
  [
    'OI-07 HS256 by a published symmetric key',
    () => ({ keys: () => ({ keys: [oct] }), ...hs256('secret'.repeat(6), 'shared') }),
    /"alg" header/,
  ],
  ['OI-08 another key under the same kid', () => byForeign({}), /signature verification failed/],
  ['OI-08 a key in the header (jwk)', () => byForeign({ jwk: foreign.jwk }), /signature verification failed/],
  ['OI-08 keys at an address (jku)', () => byForeign({ jku: `${provider.issuer}/evil` }), /signature verification/],
  ['OI-08 a published key that is for encryption', () => published({ use: 'enc' }), /no applicable keys/],
  ['OI-05 another iss', () => claims({ iss: 'https://evil.example' }), /"iss"/],
  ['OI-09 another aud', () => claims({ aud: 'other' }), /"aud"/],
  ['OI-09 several audiences without azp', () => claims({ aud: [provider.clientId, 'other'] }), /"aud"/],
  ['OI-09 the azp of another beside our aud alone', () => claims({ azp: 'other' }), /azp/],
  ['OI-03 another nonce', () => claims({ nonce: 'other' }), /"nonce"/],
  ['OI-03 no nonce', () => claims({ nonce: undefined }), /"nonce"/],
  ['OI-10 an exp that is past', () => claims({ exp: seconds() - 122 }), /"exp"/],
  ['OI-10 an nbf in the future', () => claims({ nbf: seconds() + 180 }), /"nbf"/],
  ...([7, '', 's'.repeat(300), 'alice\0', 'alice\ud800'] as unknown[]).map((sub): (typeof forgeries)[number] => [
    `OI-11 the sub ${JSON.stringify(sub).slice(0, 20)}`,
    () => claims({ sub }),
    /sub/,
  ]),
  ['OI-32 a blank sub', () => claims({ sub: '\u00a0\u200b' }), /sub is/],
  ['OI-32 a critical b64', () => written(',"b64":false,"crit":["b64"]'), /crit/],
  ['OI-32 more after the third part', () => written('', '.e30'), /Invalid JWT|JWE/],
  ['OI-12 no ID token', () => token({ id_token: undefined }), /"id_token"/],
  ['OI-12 an encrypted ID token', () => token({ id_token: 'e30.e30.e30.e30.e30' }), /JWE decryption/],
  ['OI-12 a list for an answer', () => ({ token: () => [] }), /top level object/],
  ['OI-30 a userinfo of another sub', () => userInfo({ sub: 'mallory' }), /"sub"/],
  ['OI-30 userinfo that is signed by another key', () => signedUserInfo(foreign), /signature verification/],
];

it.each(oneOfEach(forgeries, ([name]) => name.slice(0, 5)))('forged: %s is refused', async (_name, bend, words) => {
  const refused = { kind: 'refused', reason: 'answer-invalid', words: expect.stringMatching(words) };
  expect(await answerTo(await bend())).toEqual(refused);
  expect(provider.requests).not.toContain('/evil');
});

it('OI-29 the ID token of a parallel sign-in is refused; concurrent ones each get their own person', async () => {
  const [first, second] = [await startVisit(deps, connection), await startVisit(deps, connection)];
  const other = await readOidcAnswer(deps, connection, { ...second, url: provider.visit(second.url) });
  if (other.kind === 'refused') throw new Error(other.words);
  provider.bend(token({ id_token: other.identity.idToken }));
  const answer = await readOidcAnswer(deps, connection, { ...first, url: provider.visit(first.url) });
  expect(answer).toMatchObject({ reason: 'answer-invalid', words: expect.stringContaining('"nonce"') });
  const people = Array.from({ length: 8 }, (_, index) => `person ${index}`);
  const visits = await Promise.all(people.map(() => startVisit(deps, connection)));
  const personOf = new Map<unknown, string | undefined>(visits.map(({ kept }, index) => [kept.nonce, people[index]]));
  provider.bend({ claims: (honest) => ({ ...honest, sub: personOf.get(honest.nonce) }) });
  const answers = await Promise.all(
    visits.map((visit) => readOidcAnswer(deps, connection, { ...visit, url: provider.visit(visit.url) })),
  );
  expect(answers.map((answer) => answer.kind === 'ok' && answer.identity.subject)).toEqual(people);
});

describe('discovery that does not belong to the connection', () => {
  const evil = 'http://evil.example/';
  it.each<[string, () => Change]>([
    ['another issuer', () => ({ issuer: 'https://evil.example' })],
    ['no issuer', () => ({ issuer: undefined })],
    ['a script for the authorization endpoint', () => ({ authorization_endpoint: 'javascript:alert(1)' })],
    ['plain http for the token endpoint', () => ({ token_endpoint: evil })],
    ['a file for the keys', () => ({ jwks_uri: 'file:///etc/passwd' })],
    ['a script for the end of the session', () => ({ end_session_endpoint: 'javascript:alert(1)' })],
  ])('OI-26 %s is refused before anyone is sent there', async (_name, change) => {
    provider.bend(discovery(change()));
    await expect(startVisit(deps, connection)).rejects.toThrow(/connection-broken|provider-unreachable/);
    expect(provider.requests).toEqual(['/.well-known/openid-configuration']);
  });

  const here = ['127.0.0.0/8', '::1/128'];
  const issuer = 'https://provider.example';
  /** The answer of a remote provider, which tests don't have. */
  const saying = (more: Change) => {
    const [authorization_endpoint, token_endpoint, jwks_uri] = ['/authorize', '/token', '/keys'].map(
      (at) => issuer + at,
    );
    return { read: async () => Response.json({ issuer, authorization_endpoint, token_endpoint, jwks_uri, ...more }) };
  };

  it('OI-26 a remote provider does not reach services on this machine, nor is one for many tenants believed', async () => {
    expect(await readDiscovery(issuer, here, saying({}))).toMatchObject({ issuer });
    for (const name of [
      'authorization_endpoint',
      'token_endpoint',
      'jwks_uri',
      'userinfo_endpoint',
      'end_session_endpoint',
    ])
      await expect(readDiscovery(issuer, here, saying({ [name]: 'http://127.0.0.1:5432/' }))).rejects.toThrow(
        `discovery: ${name} is not an https address`,
      );
    const microsoft = (tenant: string) => `https://login.microsoftonline.com/${tenant}/v2.0`;
    const reading = readDiscovery(microsoft('common'), here, saying({ issuer: microsoft('{tenantid}') }));
    await expect(reading).rejects.toThrow(`the discovery document of ${microsoft('common')} names another issuer`);
  });
});

it.each(["-_.!~*'()", 'é:%&+/='])('the secret %s is sent as providers read it', async (secret) => {
  for (const clientAuthentication of ['secret', 'post'] as const) {
    connection = oidcConnection(deps, { ...provider, clientSecret: secret }, { settings: { clientAuthentication } });
    expect((await answerTo({})).kind).toBe('ok');
    const { authorization, form } = provider.tokenRequests.at(-1) ?? {};
    if (clientAuthentication === 'post')
      expect([authorization, form?.get('client_secret')]).toEqual([undefined, secret]);
    else {
      const basic = Buffer.from(authorization?.replace('Basic ', '') ?? '', 'base64').toString();
      const [id, shown] = basic.split(':');
      expect([id, new URLSearchParams(`secret=${shown}`).get('secret')]).toEqual(['vestibule', secret]);
      // Some don't decode: what needs no encoding gets none.
      if (/^[\w.!~*'()-]+$/.test(secret)) expect(shown).toBe(secret);
    }
  }
});
