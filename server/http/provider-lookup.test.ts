import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { openConversation } from './provider-fetch.ts';

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
