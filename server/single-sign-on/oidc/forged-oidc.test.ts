import { KeyObject, sign } from 'node:crypto';
import { exportSPKI } from 'jose';
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

/** Signs in at the manipulated provider, with an answer that would be accepted if it were honest. */
async function answerTo(bend: Bend) {
  provider.bend(bend);
  return await visitProvider(deps, connection, provider);
}

const claims = (change: Record<string, unknown>): Bend => ({ claims: (honest) => ({ ...honest, ...change }) });
const header = (change: Record<string, unknown>): Bend => ({ header: (honest) => ({ ...honest, ...change }) });
const token = (change: Record<string, unknown>): Bend => ({ token: (honest) => ({ ...honest, ...change }) });
const callback = (change: (parameters: URLSearchParams) => void): Bend => ({ callback: change });
const discovery = (change: Record<string, unknown>): Bend => ({ discovery: (honest) => ({ ...honest, ...change }) });
const idToken = (make: NonNullable<Bend['idToken']>): Bend => ({ idToken: make });

/** A forgery, why it is refused, and the words that tell the operator which check found it. */
type Forgery = [name: string, bend: () => Bend | Promise<Bend>, words: RegExp];

describe('an honest answer is accepted', () => {
  it('with what it says of the person', async () => {
    expect(await answerTo({})).toEqual({
      kind: 'ok',
      identity: {
        subject: 'subject of alice',
        email: 'alice@customer.example',
        emailVerified: true,
        username: null,
        language: null,
        authenticationContexts: [],
        authenticatedAt: null,
        sessionEndsAt: null,
        idToken: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      },
    });
    expect(provider.requests).toEqual(['/.well-known/openid-configuration', '/token', '/keys']);
  });

  it.each(['RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'])(
    'signed by %s',
    async (alg) => {
      const key = await newKey(alg);
      const { kind } = await answerTo({
        keys: () => ({ keys: [foreign.jwk, key.jwk] }),
        idToken: (said) => signed(said, { alg, kid: key.kid }, key.privateKey),
      });
      expect(kind).toBe('ok');
    },
  );

  it('with signed userinfo', async () => {
    const { kind } = await answerTo(signedUserInfo(provider.key));
    expect(kind).toBe('ok');
  });

  const accepted: [name: string, bend: () => Bend][] = [
    ['with the iss parameter', () => callback((query) => query.set('iss', provider.issuer))],
    ['with one audience in a list', () => claims({ aud: [provider.clientId] })],
    ['with several audiences and our azp', () => claims({ aud: [provider.clientId, 'other'], azp: provider.clientId })],
    ['with our azp', () => claims({ azp: provider.clientId })],
    ['from a clock that is 2 minutes ahead', () => claims({ nbf: seconds() + 120 })],
    ['from a clock that is 2 minutes behind', () => claims({ exp: seconds() - 118 })],
    ['with a subject of 255 characters', () => claims({ sub: 's'.repeat(255) })],
    ['without a kid, where there is one key', () => header({ kid: undefined })],
  ];
  it.each(accepted)('%s', async (_name, bend) => {
    expect(await answerTo(bend())).toMatchObject({ kind: 'ok' });
  });
});

/** Userinfo as a JWT (OpenID Connect Core §5.3.2), signed by a key under the kid of the published one. */
const signedUserInfo = ({ privateKey }: KeyOfProvider, more: Record<string, unknown> = {}): Bend => ({
  ...claims({ email: undefined }),
  instead: {
    userInfo: async (response) => {
      const { kid, alg } = provider.key;
      const said = { sub: 'subject of alice', email: 'alice@customer.example', ...more };
      response.writeHead(200, { 'content-type': 'application/jwt' }).end(await signed(said, { kid, alg }, privateKey));
    },
  },
});

const ofTheCallback: Forgery[] = [
  ['OI-04 a wrong iss parameter', () => callback((query) => query.set('iss', 'https://evil.example')), /iss parameter/],
  ['OI-04 an empty iss parameter', () => callback((query) => query.set('iss', '')), /iss parameter/],
  ['OI-04 the right iss parameter twice', () => callback(twice('iss', provider.issuer)), /must be provided only once/],
  ['OI-04 none', () => discovery({ authorization_response_iss_parameter_supported: true }), /missing/],
  ['OI-01 no state', () => callback((query) => query.delete('state')), /"state" missing/],
  ['OI-01 another state', () => callback((query) => query.set('state', 'other')), /unexpected "state"/],
  ['OI-01 the state twice', () => callback((query) => query.append('state', query.get('state') ?? '')), /only once/],
  ['OI-13 no code', () => callback((query) => query.delete('code')), /no authorization code/],
  ['OI-13 two codes', () => callback((query) => query.append('code', 'other')), /only once/],
  ['OI-13 an unknown code', () => callback((query) => query.set('code', 'made up')), /accept the code: invalid_grant/],
  ['OI-12 an ID token there', () => callback((query) => query.set('id_token', 'a.b.c')), /implicit and hybrid/],
  ['OI-12 an answer in one parameter (JARM)', () => callback((query) => query.set('response', 'a.b.c')), /JARM/],
];

const hs256 = (key: string | Buffer, kid?: string) =>
  idToken((said) => signed(said, { alg: 'HS256', ...(kid && { kid }) }, new Uint8Array(Buffer.from(key))));
const byForeign = (more: Record<string, unknown>) =>
  idToken((said, head) => signed(said, { ...head, ...more }, foreign.privateKey));
const published = (more: Record<string, unknown>): Bend => ({
  keys: () => ({ keys: [{ ...provider.key.jwk, ...more }] }),
});
const oct = { kty: 'oct', k: 'c2VjcmV0', kid: 'shared', alg: 'HS256' };

const ofTheSignature: Forgery[] = [
  ['OI-06 alg none', () => idToken((said) => unsigned(said, { alg: 'none' })), /"alg" header/],
  ['OI-06 no alg', () => idToken((said) => unsigned(said, {})), /"alg" header/],
  ['OI-06 an empty signature', () => idToken((said, head) => unsigned(said, head)), /signature verification failed/],
  ['OI-06 the signature of another token', () => idToken(ofAnother), /signature verification failed/],
  ['OI-06 no base64url', () => idToken((said, head) => unsigned(said, head, '!!!')), /not correctly encoded/],
  ['OI-07 HS256 by the client secret', () => hs256(provider.clientSecret), /"alg" header/],
  [
    'OI-07 HS256 by the public key in PEM',
    async () => ({
      ...discovery({ id_token_signing_alg_values_supported: ['HS256', 'RS256'] }),
      ...hs256(await exportSPKI(provider.key.publicKey), provider.key.kid),
    }),
    /"alg" header/,
  ],
  [
    'OI-07 HS256 by a published symmetric key',
    () => ({ keys: () => ({ keys: [oct] }), ...hs256(Buffer.from('c2VjcmV0'.repeat(6), 'base64'), 'shared') }),
    /"alg" header/,
  ],
  ['OI-08 another key under the same kid', () => byForeign({}), /signature verification failed/],
  ['OI-08 another key under an unknown kid', () => byForeign({ kid: 'unknown' }), /no applicable keys/],
  ['OI-08 the right key under an unknown kid', () => header({ kid: 'unknown' }), /no applicable keys/],
  ['OI-08 a key in the header (jwk)', () => byForeign({ jwk: foreign.jwk }), /signature verification failed/],
  ['OI-08 keys at an address (jku)', () => byForeign({ jku: `${provider.issuer}/evil` }), /signature verification/],
  ['OI-08 a published key that is for encryption', () => published({ use: 'enc' }), /no applicable keys/],
  ['OI-08 a published key for another algorithm', () => published({ alg: 'PS256' }), /no applicable keys/],
  ['OI-08 crit', () => idToken((said, head) => unsigned(said, { ...head, crit: ['exp'] }, 'AAAA')), /"crit"/],
  ['OI-08 published keys that are no keys', () => published({ n: 7 }), /./],
];

const ofTheClaims: Forgery[] = [
  ['OI-05 another iss', () => claims({ iss: 'https://evil.example' }), /"iss"/],
  ['OI-05 an iss with a slash more', () => claims({ iss: `${provider.issuer}/` }), /"iss"/],
  ['OI-05 no iss', () => claims({ iss: undefined }), /"iss"/],
  ['OI-05 a list as iss', () => claims({ iss: [provider.issuer] }), /"iss"/],
  ['OI-09 another aud', () => claims({ aud: 'other' }), /"aud"/],
  ['OI-09 no aud', () => claims({ aud: undefined }), /"aud"/],
  ['OI-09 a list of others as aud', () => claims({ aud: ['other', 'third'] }), /"aud"/],
  ['OI-09 several audiences without azp', () => claims({ aud: [provider.clientId, 'other'] }), /"aud"/],
  ['OI-09 and with that of another', () => claims({ aud: [provider.clientId, 'other'], azp: 'other' }), /"azp"/],
  ['OI-09 the azp of another beside our aud alone', () => claims({ azp: 'other' }), /azp/],
  ['OI-09 an azp that is no string', () => claims({ azp: null }), /azp/],
  ['OI-03 another nonce', () => claims({ nonce: 'other' }), /"nonce"/],
  ['OI-03 no nonce', () => claims({ nonce: undefined }), /"nonce"/],
  ['OI-10 an exp that is past', () => claims({ exp: seconds() - 122 }), /"exp"/],
  ['OI-10 no exp', () => claims({ exp: undefined }), /"exp"/],
  ['OI-10 an exp that is a string', () => claims({ exp: String(seconds() + 300) }), /"exp"/],
  ['OI-10 an nbf in the future', () => claims({ nbf: seconds() + 180 }), /"nbf"/],
  ['OI-10 no iat', () => claims({ iat: undefined }), /"iat"/],
  ['OI-10 an iat that is a string', () => claims({ iat: String(seconds()) }), /"iat"/],
  ['OI-11 no sub', () => claims({ sub: undefined }), /"sub"/],
  ['OI-11 a number as sub', () => claims({ sub: 7 }), /"sub"/],
  ...['', 's'.repeat(300), 'alice\0', 'alice\ud800'].map(
    (sub): Forgery => [`OI-11 the sub ${JSON.stringify(sub).slice(0, 20)}`, () => claims({ sub }), /sub is not/],
  ),
  ...[' ', '\u00a0\u2003', '\u200b', '\u3164'].map(
    (sub): Forgery => [`OI-32 the blank sub ${JSON.stringify(sub)}`, () => claims({ sub }), /sub is/],
  ),
];

function twice(name: string, value: string) {
  return (query: URLSearchParams) => {
    query.append(name, value);
    query.append(name, value);
  };
}

async function ofAnother(said: Record<string, unknown>, head: Record<string, unknown>): Promise<string> {
  const other = await signed({ ...said, sub: 'mallory' }, head, provider.key.privateKey);
  return unsigned(said, head, other.split('.')[2]);
}

/** An ID token with other text in its header or after its end, honestly signed. */
function written(more: string, after = ''): Bend {
  return idToken((said, head) => {
    const header = JSON.stringify(head).replace(/\}$/, `${more}}`);
    const data = [header, JSON.stringify(said)].map((text) => Buffer.from(text).toString('base64url')).join('.');
    const signature = sign('sha256', Buffer.from(data), KeyObject.from(provider.key.privateKey));
    return `${data}.${signature.toString('base64url')}${after}`;
  });
}

const ofTheLetter: Forgery[] = [
  ['OI-32 a critical b64', () => written(',"b64":false,"crit":["b64"]'), /crit/],
  ['OI-32 an empty crit', () => written(',"crit":[]'), /crit/],
  ...['.', '.e30', '.e30.e30.e30', '~', '!', '%00'].map((after): Forgery => {
    const words = /Invalid JWT|not correctly encoded|JWE|signature verification/;
    return [`OI-32 ${JSON.stringify(after)} after the third part`, () => written('', after), words];
  }),
];

const userInfo = (more: Record<string, unknown>): Bend => ({
  ...claims({ email: undefined }),
  userInfo: (honest) => ({ ...honest, ...more }),
});
const listed = () => signed([] as never, { alg: 'RS256', kid: provider.key.kid }, provider.key.privateKey);

const ofTheTokens: Forgery[] = [
  ['OI-12 no ID token', () => token({ id_token: undefined }), /"id_token"/],
  ['OI-12 an empty ID token', () => token({ id_token: '' }), /"id_token"/],
  ['OI-12 an ID token that is none', () => token({ id_token: 'garbage' }), /Invalid JWT/],
  ['OI-12 an ID token of two parts', () => token({ id_token: 'e30.e30' }), /Invalid JWT/],
  ['OI-12 an encrypted ID token', () => token({ id_token: 'e30.e30.e30.e30.e30' }), /JWE decryption/],
  ['OI-12 another token_type', () => token({ token_type: 'mac' }), /token_type/],
  ['OI-12 no token_type', () => token({ token_type: undefined }), /token_type/],
  ['OI-12 no access token', () => token({ access_token: undefined }), /access_token/],
  ['OI-12 a list for an answer', () => ({ token: () => [] }), /top level object/],
  ['OI-12 a list for claims', () => idToken(listed), /top level object/],
  ['OI-30 a userinfo of another sub', () => userInfo({ sub: 'mallory' }), /"sub"/],
  ['OI-30 a userinfo without sub', () => userInfo({ sub: undefined }), /"sub"/],
  ['OI-30 userinfo that is signed by another key', () => signedUserInfo(foreign), /signature verification/],
  ['OI-30 and for another client', () => signedUserInfo(provider.key, { aud: 'other' }), /"aud"/],
];

describe.each([
  ['the address that the visitor comes back to', ofTheCallback],
  ['the signature of the ID token', ofTheSignature],
  ['the claims of the ID token', ofTheClaims],
  ['the ID token to the letter', ofTheLetter],
  ['the answers of the endpoints', ofTheTokens],
])('forged: %s', (_what, forgeries) => {
  it.each(oneOfEach(forgeries, ([name]) => name.slice(0, 5)))('%s is refused', async (_name, bend, words) => {
    expect(await answerTo(await bend())).toEqual({
      kind: 'refused',
      reason: 'answer-invalid',
      words: expect.stringMatching(words),
    });
    expect(provider.requests).not.toContain('/evil');
  });
});

describe('forged: what belongs to another sign-in', () => {
  it('OI-29 the ID token of a parallel sign-in is refused', async () => {
    const [first, second] = [await startVisit(deps, connection), await startVisit(deps, connection)];
    const other = await readOidcAnswer(deps, connection, { ...second, url: provider.visit(second.url) });
    if (other.kind === 'refused') throw new Error(other.words);
    provider.bend(token({ id_token: other.identity.idToken }));
    const answer = await readOidcAnswer(deps, connection, { ...first, url: provider.visit(first.url) });
    expect(answer).toMatchObject({ reason: 'answer-invalid', words: expect.stringContaining('"nonce"') });
  });

  it('OI-29 concurrent sign-ins each get their own person', async () => {
    const people = Array.from({ length: 8 }, (_, index) => `person ${index}`);
    const visits = await Promise.all(people.map(() => startVisit(deps, connection)));
    const personOf = new Map<unknown, string>(
      visits.map(({ kept }, index): [unknown, string] => [kept.nonce, people[index] ?? '']),
    );
    provider.bend({ claims: (honest) => ({ ...honest, sub: personOf.get(honest.nonce) }) });
    const answers = await Promise.all(
      visits.map((visit) => readOidcAnswer(deps, connection, { ...visit, url: provider.visit(visit.url) })),
    );
    expect(answers.map((answer) => answer.kind === 'ok' && answer.identity.subject)).toEqual(people);
  });

  it('OI-02 an answer from one provider is refused at another’s connection', async () => {
    const other = await startForgedProvider(portal.deps);
    try {
      const elsewhere = oidcConnection(deps, other);
      const visit = await startVisit(deps, connection);
      const url = provider.visit(visit.url);
      const answer = await readOidcAnswer(deps, elsewhere, { ...visit, url });
      expect(answer).toMatchObject({ kind: 'refused', words: expect.stringContaining('invalid_grant') });
    } finally {
      await other.close();
    }
  });
});

describe('discovery that does not belong to the connection', () => {
  const evil = 'http://evil.example/';
  it.each<[string, () => Record<string, unknown>]>([
    ['another issuer', () => ({ issuer: 'https://evil.example' })],
    ['an issuer with a slash more', () => ({ issuer: `${provider.issuer}/` })],
    ['an issuer in other case', () => ({ issuer: provider.issuer.replace('http', 'HTTP') })],
    ['no issuer', () => ({ issuer: undefined })],
    ...['javascript:alert(1)', 'data:text/html,x', evil, undefined].map(
      (authorization_endpoint): [string, () => Record<string, unknown>] => [
        `${authorization_endpoint} for the authorization endpoint`,
        () => ({ authorization_endpoint }),
      ],
    ),
    ['plain http for the token endpoint', () => ({ token_endpoint: evil })],
    ['a name and password in an endpoint', () => ({ token_endpoint: 'https://name:password@provider.example/' })],
    ['a file for the keys', () => ({ jwks_uri: 'file:///etc/passwd' })],
    ['no keys', () => ({ jwks_uri: undefined })],
    ['plain http for userinfo', () => ({ userinfo_endpoint: 'http://localhost.evil.example/' })],
    ['a script for the end of the session', () => ({ end_session_endpoint: 'javascript:alert(1)' })],
    ['a number for the authentication methods', () => ({ token_endpoint_auth_methods_supported: 7 })],
    ['a list of lists for the algorithms', () => ({ id_token_signing_alg_values_supported: [['RS256']] })],
  ])('OI-26 %s is refused before anyone is sent there', async (_name, change) => {
    provider.bend(discovery(change()));
    await expect(startVisit(deps, connection)).rejects.toThrow(/connection-broken|provider-unreachable/);
    expect(provider.requests).toEqual(['/.well-known/openid-configuration']);
  });
});

describe('real providers', () => {
  it('a signature by another algorithm is named, with the accepted ones', async () => {
    const words = expect.stringMatching(/^unexpected JWT "alg" header HS512; accepted are RS256, .*EdDSA, Ed25519$/);
    expect(await answerTo(idToken((said) => unsigned(said, { alg: 'HS512' })))).toMatchObject({ words });
  });

  it.each(["-_.!~*'()", 'plain', 'a b', 'é:%&+/='])('the secret %s is sent as providers read it', async (secret) => {
    const tokenRequest = async (clientAuthentication: 'secret' | 'basic' | 'post') => {
      const client = { ...provider, clientSecret: secret };
      connection = oidcConnection(deps, client, { settings: { clientAuthentication } });
      expect((await answerTo({})).kind).toBe('ok');
      return provider.tokenRequests.at(-1);
    };
    for (const way of ['secret', 'basic'] as const) {
      const basic = /^Basic (.+)$/.exec((await tokenRequest(way))?.authorization ?? '')?.[1] ?? '';
      const [id, shown] = Buffer.from(basic, 'base64').toString().split(':');
      expect(id).toBe('vestibule');
      expect(new URLSearchParams(`secret=${shown}`).get('secret')).toBe(secret);
      // Some don't decode: what needs no encoding gets none.
      if (/^[\w.!~*'()-]+$/.test(secret)) expect(shown).toBe(secret);
    }
    const post = await tokenRequest('post');
    expect(post?.authorization).toBeUndefined();
    expect(post?.form.get('client_secret')).toBe(secret);
  });

  it('an unknown client is not blamed only on the secret', async () => {
    const json = { 'content-type': 'application/json' };
    const unknown = (status: number, headers = {}): Bend => ({
      instead: {
        token: (response) => response.writeHead(status, { ...json, ...headers }).end('{"error":"invalid_client"}'),
      },
    });
    const words = expect.stringContaining('by client id or secret (or key)');
    for (const bend of [unknown(400), unknown(401), unknown(401, { 'www-authenticate': 'Basic realm="x"' })])
      expect(await answerTo(bend)).toMatchObject({ reason: 'connection-broken', words });
  });
});

it('OI-23 its words are made harmless for the operator', async () => {
  const answer = await answerTo(
    callback((query) => {
      query.delete('code');
      query.set('error', 'access_denied');
      query.set('error_description', `<script>alert(1)</script>\r\n\u001b[31mforged line${'x'.repeat(5000)}`);
    }),
  );
  expect(answer).toMatchObject({ kind: 'refused', reason: 'provider-refused' });
  const words = answer.kind === 'ok' ? '' : answer.words;
  expect(words).toMatch(
    /^access_denied \(<script>alert\(1\)<\/script>\\u000d\\u000a\\u001b\[31mforged line[\x20-\x7e]*$/,
  );
  expect(words.length).toBeLessThanOrEqual(200);
  expect(provider.requests).not.toContain('/token');
});
