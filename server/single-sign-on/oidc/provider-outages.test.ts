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
import { oidcConnection, visitProvider } from '#test/support/sso-for-test.ts';
import type { Deps } from '../../deps.ts';
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
const signIn = async (bend: Bend = {}) => {
  provider.bend(bend);
  return await visitProvider(deps, connection, provider);
};
const count = (path: string) => provider.requests.filter((asked) => asked === path).length;
const json = { 'content-type': 'application/json' };

/** An endless body, until the reader disconnects. */
function endless(response: ServerResponse): Generator<Buffer> {
  const part = Buffer.alloc(64 * 1024, 'x');
  return (function* () {
    while (!response.destroyed) yield part;
  })();
}

const gzip = { ...json, 'content-encoding': 'gzip' };
const answers =
  (status: number, headers = {}, body = '') =>
  (response: ServerResponse) =>
    response.writeHead(status, headers).end(body);

const troubles: [name: string, (response: ServerResponse) => void, words: RegExp][] = [
  ['a redirect', answers(302, { location: '/evil' }), /answers 302, a redirect/],
  ['a web page', answers(200, { 'content-type': 'text/html' }, '<!doctype html>'), /web page|is invalid|key set/],
  [
    'a body that unpacks without end',
    (response) => pipeline(endless(response), createGzip(), response.writeHead(200, gzip), () => {}),
    /more than 512 KiB/,
  ],
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
    // It is not remembered.
    expect(await signIn()).toMatchObject({ kind: 'ok' });
  });
});

it.each<[string, () => string, RegExp]>([
  ['a name that nobody has', () => 'https://provider.invalid', /has a name that cannot be resolved \(E/],
  ['plain http', () => 'http://provider.example', /is not an https address/],
  ['a closed port', () => 'http://127.0.0.1:2', /reached \(ECONNREFUSED\)/],
  ['no TLS', () => provider.issuer.replace('http', 'https'), /failed the TLS handshake/],
])('RL-07 OI-24 a provider that cannot be reached, by %s, is reported as such', async (_name, issuer, words) => {
  connection = oidcConnection(deps, { ...provider, issuer: issuer() });
  expect(await signIn()).toMatchObject({ kind: 'refused', words: expect.stringMatching(words) });
});

describe('what is remembered', () => {
  /** The library's keys age by the real clock. */
  const wait = (time: number) => {
    vi.setSystemTime(Date.now() + time);
    portal.wait(time);
  };
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));

  it('OI-25 published data is read once by concurrent callers, remembered for a while, then read again', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => signIn()));
    expect(answers.every(({ kind }) => kind === 'ok')).toBe(true);
    wait(limits.providerRemembered - 2 * second);
    await signIn();
    expect([count(discoveryPath), count('/keys')]).toEqual([1, 1]);
    wait(2 * second);
    await signIn();
    expect([count(discoveryPath), count('/keys')]).toEqual([2, 2]);
    connection = { ...connection, version: connection.version + 1 };
    await signIn();
    expect(count(discoveryPath)).toBe(3);
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
});

it('OI-24 the end of the session leads back to the portal, if the provider has an address for it and answers', async () => {
  const away = async (idToken = 'a.b.c') => (await oidcLogout(deps, connection, idToken))?.url ?? null;
  const { origin, pathname, searchParams } = new URL((await away()) ?? '');
  expect(origin + pathname).toBe(`${provider.issuer}/end`);
  const query = { client_id: provider.clientId, post_logout_redirect_uri: 'http://localhost:8080/portal/login' };
  expect(Object.fromEntries(searchParams)).toEqual({ ...query, id_token_hint: 'a.b.c' });
  // A hint that is too long for an address is left out.
  expect(Object.fromEntries(new URL((await away('x'.repeat(5000))) ?? '').searchParams)).toEqual(query);
  for (const bend of [
    { discovery: (honest) => ({ ...honest, end_session_endpoint: undefined }) },
    { instead: { discovery: () => {} } },
  ] satisfies Bend[]) {
    deps.providers.clear();
    provider.bend(bend);
    isOutOfTime();
    expect(await away()).toBeNull();
  }
});
