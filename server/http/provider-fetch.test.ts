import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ForgedProvider, startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { type PortalForTest, portalForTest } from '#test/support/portal-for-test.ts';
import { eachRow } from '#test/support/runs-all.ts';
import { oidcConnection } from '#test/support/sso-for-test.ts';
import type { Deps } from '../deps.ts';
import { startOidc } from '../single-sign-on/oidc/provider.ts';
import { mayReach, openConversation, refusedByHost } from './provider-fetch.ts';

const internal = [
  ...['127.0.0.1', '127.255.255.254', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.169.254'],
  ...['100.64.0.1', '100.127.255.255', '0.0.0.0', '0.1.2.3', '192.0.0.8', '198.18.0.1', '224.0.0.1', '239.1.2.3'],
  ...[
    '255.255.255.255',
    '240.0.0.1',
    '::',
    '::1',
    'fc00::1',
    'fdff::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
  ],
  ...['::ffff:10.0.0.1', '::ffff:7f00:1', '::10.0.0.1', '64:ff9b::a00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::1', '100::1'],
  ...['2002:a00:1::', '2001:0:a00:1::', '4000::1', 'no address', ''],
];
const open = ['8.8.8.8', '172.32.0.1', '172.15.255.255', '100.128.0.1', '11.0.0.1', '2606:4700::1111', '2a00:1450::1'];

describe('which addresses a provider may have', () => {
  it('OI-34 internal ones are not public', () =>
    eachRow(internal, (address) => expect(mayReach(address, [])).toBe(false)));
  it('OI-34 others are', () => eachRow(open, (address) => expect(mayReach(address, [])).toBe(true)));

  it('OI-34 a network listed by the operator is allowed for this connection, and nothing beyond it', () => {
    expect(mayReach('10.1.2.3', ['10.1.0.0/16'])).toBe(true);
    expect(mayReach('::ffff:10.1.2.3', ['10.1.0.0/16'])).toBe(true);
    expect(mayReach('10.2.0.1', ['10.1.0.0/16'])).toBe(false);
    expect(mayReach('::1', ['127.0.0.0/8'])).toBe(false);
    expect(mayReach('fd00::7', ['fd00::/64'])).toBe(true);
    expect(mayReach('fe80::7%eth0', ['fe80::/64'])).toBe(true);
  });

  it('OI-34 an internal one is recognized however it is written', () =>
    eachRow(
      [
        ...['https://127.0.0.1/', 'https://2130706433/', 'https://0x7f.1/', 'https://0177.0.0.1/', 'https://127.1/'],
        ...[
          'https://[::1]/',
          'https://[::ffff:7f00:1]/',
          'https://[0:0:0:0:0:ffff:169.254.169.254]/',
          'https://10.0.0.1./',
        ],
        ...['https://localhost/', 'https://LOCALHOST./', 'https://idp.localhost/', 'https://0/', 'https://[::]/'],
      ],
      (address) => {
        expect(refusedByHost(new URL(address), [])?.message).toContain('--provider-network');
      },
    ));

  it('OI-34 a name does not show where it is', () => {
    expect(refusedByHost(new URL('https://metadata.google.internal/'), [])).toBeNull();
    expect(refusedByHost(new URL('https://localhost.example/'), [])).toBeNull();
  });
});

describe('a provider', () => {
  let portal: PortalForTest;
  let provider: ForgedProvider;
  let deps: Deps;
  beforeAll(async () => {
    portal = await portalForTest();
    provider = await startForgedProvider(portal.deps);
  });
  beforeEach(() => {
    deps = { ...portal.deps, providers: new Map() };
    provider.bend({});
    provider.requests.length = 0;
  });
  afterAll(async () => {
    await provider.close();
    await portal.close();
  });

  const connection = (providerNetworks: string[], issuer = provider.issuer) =>
    oidcConnection(deps, { ...provider, issuer }, { providerNetworks });
  const visit = { state: 'state', loginHint: null, language: 'en' };

  it.each([
    ['authorization_endpoint', 'https://169.254.169.254/x'],
    ['token_endpoint', 'https://10.0.0.1/x'],
    ['jwks_uri', 'https://[fd00::1]/x'],
    ['userinfo_endpoint', 'https://2852039166/x'],
    ['end_session_endpoint', 'https://10.0.0.1/x'],
  ])('OI-34 whose discovery names %s %s is refused before anyone is sent there', async (name, place) => {
    provider.bend({ discovery: (honest) => ({ ...honest, [name]: place }) });
    expect(await startOidc(deps, connection(['127.0.0.0/8']), visit)).toMatchObject({
      kind: 'refused',
      reason: 'connection-broken',
      words: expect.stringMatching(new RegExp(`^discovery: ${name}: .*--provider-network`)),
    });
  });
});

/** Every name resolves to this machine, as any provider with its own name server can arrange. */
vi.mock('node:dns', async (original) => ({
  ...(await original<typeof import('node:dns')>()),
  lookup: (_host: string, _options: object, callback: (error: null, found: LookupAddress[]) => void) =>
    callback(null, [{ address: '127.0.0.1', family: 4 }]),
}));

let server: Server;
let url: string;
let connections = 0;
beforeAll(async () => {
  server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `https://idp.example:${(server.address() as AddressInfo).port}/`;
});
beforeEach(() => {
  connections = 0;
});
afterAll(() => {
  server.close();
});

it('OI-34 requests connect to the address that was checked, separately for each list of networks', async () => {
  const problem = async (networks: string[]) =>
    await openConversation(networks)
      .read(url)
      .catch(({ message }: Error) => message);
  expect(await problem([])).toMatch(
    /^idp\.example \(127\.0\.0\.1\) is neither in a public network.*--provider-network/,
  );
  expect(connections).toBe(0);
  // It doesn't speak TLS, but it gets the request.
  expect(await problem(['127.0.0.0/8'])).not.toContain('--provider-network');
  expect(connections).toBeGreaterThan(0);
  connections = 0;
  expect(await problem([])).toContain('--provider-network');
  expect(await problem(['10.0.0.0/8'])).toContain('--provider-network');
  expect(connections).toBe(0);
});
