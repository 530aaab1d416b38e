import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { createGzip } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { limits, minute, second } from '#server/limits.ts';
import {
  type Bend,
  type Endpoint,
  type ForgedProvider,
  newKey,
  startForgedProvider,
} from '#test/providers/forged-openid-provider.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { runsAll } from '#test/support/runs-all.ts';
import { oidcConnection, startVisit, visitProvider } from '#test/support/sso-for-test.ts';
import type { Deps } from '../../deps.ts';
import type { ProviderAnswer } from '../provider-answer.ts';
import { oidcLogout } from '../sign-out-at-provider.ts';
import type { OidcConnection } from '../sso-connection.ts';

const discoveryPath = '/.well-known/openid-configuration';

let provider: ForgedProvider;
let connection: OidcConnection;
let deps: Deps;
const portal = portalOfFile();
beforeEach(async () => {
  provider = await startForgedProvider(portal.deps);
  deps = { ...portal.deps, providers: new Map() };
  connection = oidcConnection(deps, provider);
  return () => provider.close();
});

/** The limit of an answer passes at once. */
function isOutOfTime(): void {
  const { timeout } = AbortSignal;
  const soon = (time: number) => timeout.call(AbortSignal, time === limits.providerAnswer ? 300 : time);
  vi.spyOn(AbortSignal, 'timeout').mockImplementation(soon);
}
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

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
    if (words.test('did not answer in time')) isOutOfTime();
    const answer = await signIn({ ...bend, instead: { [endpoint]: instead } });
    expect(answer).toEqual({ kind: 'refused', reason: 'provider-unreachable', words: expect.stringMatching(words) });
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
});

describe('what is remembered', () => {
  /** The library's keys age by the real clock. */
  const wait = (time: number) => {
    vi.setSystemTime(Date.now() + time);
    portal.wait(time);
  };
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));

  it('concurrent callers share one request', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => signIn()));
    expect(answers.every(({ kind }) => kind === 'ok')).toBe(true);
    expect([count(discoveryPath), count('/keys')]).toEqual([1, 1]);
  });

  it('OI-25 published data is remembered for a while, then read again', async () => {
    await signIn();
    wait(limits.providerRemembered - 2 * second);
    await signIn();
    expect([count(discoveryPath), count('/keys')]).toEqual([1, 1]);
    wait(2 * second);
    await signIn();
    expect([count(discoveryPath), count('/keys')]).toEqual([2, 2]);
  });

  it('a changed connection is read at once', async () => {
    await signIn();
    connection = { ...connection, version: connection.version + 1 };
    await signIn();
    expect(count(discoveryPath)).toBe(2);
  });

  it('OI-25 an unknown kid reads the keys again, at most once a minute', async () => {
    await signIn();
    const unknownKid: Bend = { header: (honest) => ({ ...honest, kid: crypto.randomUUID() }) };
    for (const known of [1, 2]) {
      for (let time = 0; time < 5; time++) expect(await signIn(unknownKid)).toMatchObject({ kind: 'refused' });
      expect(count('/keys')).toBe(known);
      wait(minute);
    }
    provider.rotate(await newKey('ES256'));
    expect(await signIn()).toMatchObject({ kind: 'ok' });
  });

  it('failures are not remembered', async () => {
    const isAway: Bend = { instead: { discovery: (response) => response.destroy() } };
    expect(await signIn(isAway)).toMatchObject({ kind: 'refused' });
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

  it('OI-24 is omitted if the provider does not answer', async () => {
    provider.bend({ instead: { discovery: () => {} } });
    isOutOfTime();
    expect(await away()).toBeNull();
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
