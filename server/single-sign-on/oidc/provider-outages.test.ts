import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { createGzip } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Deps } from '#server/deps/deps.ts';
import type { OidcConnection } from '#server/storage/sso-connection.ts';
import {
  type Bend,
  type Endpoint,
  type ForgedProvider,
  newKey,
  signed,
  startForgedProvider,
} from '#testing/forged-openid-provider.ts';
import { oidcConnection, startVisit, visitProvider } from '#testing/oidc-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { oneOfEach, runsAll } from '#testing/runs-all.ts';
import type { ProviderAnswer } from '../identity.ts';
import { oidcLogout } from '../sign-out-at-provider.ts';
import { providerBelieved, providerKeysEvery } from './keep-fresh.ts';
import { createProviderMemory } from './provider-memory.ts';

/** Short limits, so that tests are fast. */
const answerWithin = 800;
const patience = 250;
/** Of a busy machine; without a limit these would wait for as long as the test may take. */
const leeway = 20_000;

const discoveryPath = '/.well-known/openid-configuration';

let provider: ForgedProvider;
let connection: OidcConnection;
let deps: Deps;
let warnings: string[];
const log = { warn: (_what: object, words: string) => void warnings.push(words) } as never;
const portal = portalOfFile();
beforeEach(async () => {
  provider = await startForgedProvider(portal.deps);
  warnings = [];
  deps = { ...portal.deps, providers: createProviderMemory({ now: portal.deps.now, log, answerWithin, patience }) };
  connection = oidcConnection(deps, provider);
  return () => provider.close();
});

/** As long as a busy machine may take to answer at all. */
function isPatient(): void {
  deps.providers = createProviderMemory({ now: portal.deps.now, log, answerWithin: leeway, patience });
}

/** A visit from beginning to end, as far as it gets. */
async function signIn(bend: Bend = {}): Promise<ProviderAnswer> {
  provider.bend(bend);
  try {
    return await visitProvider(deps, connection, provider);
  } catch (error) {
    const [, reason, words] = /^([a-z-]+): (.*)$/s.exec((error as Error).message) ?? [];
    return { kind: 'refused', reason: reason as never, words: words ?? '' };
  }
}

const count = (path: string) => provider.requests.filter((asked) => asked === path).length;
const json = { 'content-type': 'application/json' };

/** An endless body, until the reader disconnects. */
function endless(response: ServerResponse): Generator<Buffer> {
  const part = Buffer.alloc(64 * 1024, 'x');
  return (function* () {
    while (!response.destroyed) yield part;
  })();
}

const troubles: [name: string, (response: ServerResponse) => void, words: RegExp][] = [
  ['a redirect', (response) => response.writeHead(302, { location: '/evil' }).end(), /answers 302, a redirect/],
  ['a redirect that keeps the body', (response) => response.writeHead(307, { location: '/evil' }).end(), /answers 307/],
  ['status 500', (response) => response.writeHead(500, json).end('{"error":"server_error"}'), /answers 500/],
  ['status 404', (response) => response.writeHead(404).end(), /answers 404/],
  ['status 999', (response) => response.writeHead(999).end(), /answers 999/],
  [
    'a web page',
    (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><p>Sign in'),
    /web page|is invalid|key set/,
  ],
  ['10 MB', (response) => response.writeHead(200, json).end(`"${'x'.repeat(10 * 1024 * 1024)}"`), /more than 512 KiB/],
  [
    'a body without end',
    (response) => pipeline(endless(response), response.writeHead(200, json), () => {}),
    /more than 512 KiB/,
  ],
  [
    'a body that unpacks without end',
    (response) =>
      pipeline(
        endless(response),
        createGzip(),
        response.writeHead(200, { ...json, 'content-encoding': 'gzip' }),
        () => {},
      ),
    /more than 512 KiB/,
  ],
  [
    'what cannot be unpacked',
    (response) => response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end('{"issuer":"x"}'),
    /cannot be decompressed \(Z_DATA_ERROR\)/,
  ],
  ['no answer', () => {}, /did not answer in time/],
  ['half an answer', (response) => response.writeHead(200, json).write('{'), /did not answer in time/],
  ['a closed connection', (response) => response.destroy(), /broke the connection/],
];

const endpoints: [Endpoint, Bend][] = [
  ['discovery', {}],
  ['token', {}],
  ['keys', {}],
  ['userInfo', { claims: (honest) => ({ ...honest, email: undefined }) }],
];

describe.each(endpoints)('trouble at %s', (endpoint, bend) => {
  // Every trouble at one of them, and one at each of the others.
  const those = runsAll || endpoint === 'discovery' ? troubles : troubles.slice(0, 1);
  it.each(those)('OI-24 %s refuses the sign-in in time', async (_name, instead, words) => {
    if (!words.test('did not answer in time')) isPatient();
    const began = performance.now();
    const answer = await signIn({ ...bend, instead: { [endpoint]: instead } });
    expect(answer).toEqual({ kind: 'refused', reason: 'provider-unreachable', words: expect.stringMatching(words) });
    expect(performance.now() - began).toBeLessThan(answerWithin + leeway);
    expect(provider.requests).not.toContain('/evil');
  });
});

describe('RL-07 a provider that cannot be reached', () => {
  it.each([
    ['a name that nobody has', 'https://provider.invalid', /has a name that cannot be resolved \(E/],
    ['a port that is not for the web', 'https://provider.example:25', /cannot be reached \(bad port\)/],
    ['plain http', 'http://provider.example', /is not an https address/],
  ])('OI-24 %s is reported as such', async (_name, issuer, words) => {
    connection = oidcConnection(deps, { ...provider, issuer });
    expect(await signIn()).toMatchObject({ kind: 'refused', words: expect.stringMatching(words) });
  });

  it('OI-24 a closed port is reported as such', async () => {
    const gone = await startForgedProvider(portal.deps);
    await gone.close();
    connection = oidcConnection(deps, gone);
    expect(await signIn()).toMatchObject({ kind: 'refused', words: expect.stringContaining('reached (ECONNREFUSED)') });
  });

  it('OI-24 a provider without TLS is reported as such', async () => {
    connection = oidcConnection(deps, { ...provider, issuer: provider.issuer.replace('http', 'https') });
    expect(await signIn()).toMatchObject({
      kind: 'refused',
      words: expect.stringContaining('failed the TLS handshake'),
    });
  });

  it('OI-24 all requests of one page share one timeout', async () => {
    await signIn();
    const slowly = (body: object) => (response: ServerResponse) =>
      void setTimeout(() => response.writeHead(200, json).end(JSON.stringify(body)), answerWithin * 0.9);
    portal.wait(providerBelieved);
    const answer = await signIn({
      claims: (honest) => ({ ...honest, email: undefined }),
      instead: { keys: slowly({ keys: [provider.key.jwk] }), userInfo: slowly({}) },
    });
    expect(answer).toMatchObject({
      kind: 'refused',
      words: expect.stringContaining('/userinfo did not answer in time'),
    });
  });
});

describe('what is remembered', () => {
  beforeEach(isPatient);

  it('concurrent callers share one request', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => signIn()));
    expect(answers.every(({ kind }) => kind === 'ok')).toBe(true);
    expect([count(discoveryPath), count('/keys')]).toEqual([1, 1]);
  });

  it('OI-25 published data is cached for a while, then read again', async () => {
    await signIn();
    portal.wait(providerBelieved - 1);
    await signIn();
    expect([count(discoveryPath), count('/keys')]).toEqual([1, 1]);
    portal.wait(1);
    await signIn();
    expect([count(discoveryPath), count('/keys')]).toEqual([2, 2]);
  });

  it('OI-25 rotated keys are found at once', async () => {
    await signIn();
    provider.rotate(await newKey('ES256'));
    expect(await signIn()).toMatchObject({ kind: 'ok' });
    expect(count('/keys')).toBe(2);
  });

  it('OI-25 keys rotated twice within a minute are found both times', async () => {
    await signIn();
    for (const alg of ['RS256', 'ES256', 'EdDSA']) {
      provider.rotate(await newKey(alg));
      expect(await signIn()).toMatchObject({ kind: 'ok' });
    }
    expect(count('/keys')).toBe(4);
  });

  it('OI-25 keys without an id, or with the same one, are refreshed when a signature fails, once a minute', async () => {
    const without = async (kid: string | undefined): Promise<Bend> => {
      const key = await newKey('RS256');
      return {
        keys: () => ({ keys: [{ ...key.jwk, kid }] }),
        idToken: (said) => signed(said, { alg: 'RS256', kid }, key.privateKey),
      };
    };
    for (const kid of [undefined, 'always']) {
      await signIn(await without(kid));
      const before = count('/keys');
      for (let time = 0; time < 2; time++) expect(await signIn(await without(kid))).toMatchObject({ kind: 'ok' });
      expect(count('/keys')).toBe(before + 2);
      const forged: Bend = {
        idToken: async (said) => signed(said, { alg: 'RS256', kid }, (await newKey('RS256')).privateKey),
      };
      const kept = await without(kid);
      await signIn(kept);
      const known = count('/keys');
      for (let time = 0; time < 5; time++)
        expect(await signIn({ ...kept, ...forged })).toMatchObject({ kind: 'refused' });
      expect(count('/keys')).toBe(known + 1);
      portal.wait(providerKeysEvery);
    }
  });

  it('OI-25 several keys without an id are all tried, and refreshed if none has signed', async () => {
    const [one, other] = await Promise.all([newKey('RS256'), newKey('ES256')]);
    const plain = (key: typeof one) => ({ ...key.jwk, kid: undefined });
    const signs = (key: typeof one): Bend => ({ idToken: (said) => signed(said, { alg: key.alg }, key.privateKey) });
    await signIn({ keys: () => ({ keys: [plain(one)] }), ...signs(one) });
    const all = () => ({ keys: [plain(one), plain(other)] });
    expect(await signIn({ keys: all, ...signs(other) })).toMatchObject({ kind: 'ok' });
    expect(count('/keys')).toBe(2);
  });

  it('OI-25 rotated keys are waited for, even though the old ones are there', async () => {
    await signIn();
    provider.rotate(await newKey('RS256'));
    const slowly = (response: ServerResponse) =>
      void setTimeout(
        () => response.writeHead(200, json).end(JSON.stringify({ keys: [provider.key.jwk] })),
        patience * 1.5,
      );
    expect(await signIn({ instead: { keys: slowly } })).toMatchObject({ kind: 'ok' });
  });

  it('OI-25 an unknown kid refreshes the keys once a minute', async () => {
    await signIn();
    const unknownKid: Bend = { header: (honest) => ({ ...honest, kid: crypto.randomUUID() }) };
    for (let time = 0; time < 5; time++) expect(await signIn(unknownKid)).toMatchObject({ kind: 'refused' });
    expect(count('/keys')).toBe(2);
    portal.wait(providerKeysEvery);
    await Promise.all(Array.from({ length: 5 }, () => signIn(unknownKid)));
    expect(count('/keys')).toBe(3);
    expect(await signIn()).toMatchObject({ kind: 'ok' });
  });

  it('OI-25 callers that arrive during a refresh get the rotated keys too', async () => {
    await signIn();
    provider.rotate(await newKey('RS256'));
    const answers = await Promise.all(Array.from({ length: 5 }, () => signIn()));
    expect(answers.every(({ kind }) => kind === 'ok')).toBe(true);
    expect(count('/keys')).toBe(2);
  });

  it.each(oneOfEach(troubles, ([, , words]) => String(words)))(
    'OI-25 the last good ones stay in use at %s, with one warning',
    async (_name, instead) => {
      await signIn();
      portal.wait(providerBelieved);
      const isAway: Bend = { instead: { discovery: instead, keys: instead } };
      for (let time = 0; time < 3; time++) expect(await signIn(isAway)).toMatchObject({ kind: 'ok' });
      expect([count(discoveryPath), count('/keys')]).toEqual([2, 2]);
      expect(warnings).toHaveLength(2);
      expect(warnings[0]).toMatch(/the previous metadata stay in use$/);
    },
  );

  it('OI-25 a recovered provider is read again, and the next outage causes a new warning', async () => {
    const isAway: Bend = { instead: { discovery: (response) => response.destroy() } };
    await signIn();
    portal.wait(providerBelieved);
    await signIn(isAway);
    await signIn();
    expect(count(discoveryPath)).toBe(2);
    portal.wait(providerKeysEvery);
    await signIn();
    expect(count(discoveryPath)).toBe(3);
    portal.wait(providerBelieved);
    await signIn(isAway);
    expect(warnings).toHaveLength(2);
  });

  it('OI-26 an issuer that changes does not replace the right one', async () => {
    await signIn();
    portal.wait(providerBelieved);
    const answer = await signIn({ discovery: (honest) => ({ ...honest, issuer: 'https://evil.example' }) });
    expect(answer).toMatchObject({ kind: 'ok' });
    expect(warnings[0]).toContain('names another issuer, https://evil.example');
  });

  it('failures are not cached', async () => {
    expect(await signIn({ instead: { discovery: (response) => response.destroy() } })).toMatchObject({
      kind: 'refused',
    });
    expect(await signIn()).toMatchObject({ kind: 'ok' });
  });
});

describe('the end of the session at the provider', () => {
  const away = async (idToken = 'a.b.c') => (await oidcLogout(deps, connection, idToken))?.url ?? null;

  it('leads back to the portal', async () => {
    const url = new URL((await away()) ?? '');
    expect(url.origin + url.pathname).toBe(`${provider.issuer}/end`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: provider.clientId,
      id_token_hint: 'a.b.c',
      post_logout_redirect_uri: 'http://localhost:8080/portal/login',
    });
  });

  it('omits a hint too long for any address', async () => {
    const url = await away('x'.repeat(5000));
    expect(url).not.toContain('id_token_hint');
  });

  it('is omitted if the provider has none', async () => {
    provider.bend({ discovery: (honest) => ({ ...honest, end_session_endpoint: undefined }) });
    expect(await away()).toBeNull();
  });

  it('OI-24 is omitted quickly if the provider does not answer', async () => {
    provider.bend({ instead: { discovery: () => {} } });
    const began = performance.now();
    expect(await away()).toBeNull();
    expect(performance.now() - began).toBeLessThan(patience + leeway);
  });
});

it('asks for the right things', async () => {
  const { url } = await startVisit(deps, {
    ...connection,
    settings: { ...connection.settings, scopes: ['email', 'x'] },
  });
  expect(Object.fromEntries(new URL(url).searchParams)).toEqual({
    client_id: provider.clientId,
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
    nonce: expect.stringMatching(/^[\w-]{43}$/),
    redirect_uri: `${portal.deps.config.publicUrl.origin}/portal/authenticate/oidc/callback/customer`,
    response_type: 'code',
    scope: 'openid email x',
    state: expect.any(String),
    ui_locales: 'en',
  });
});
