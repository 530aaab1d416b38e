import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { openConversation } from './provider-fetch.ts';

/** Every name is this machine's, as that of a provider who has his own name server may be at any time. */
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

it('OI-34 what is asked of a provider goes where its name was checked to be, for each list of networks anew', async () => {
  const problem = async (networks: string[]) =>
    await openConversation(networks)
      .read(url)
      .catch(({ message }: Error) => message);
  expect(await problem([])).toMatch(/^idp\.example \(127\.0\.0\.1\) is in no public network.*--provider-network/);
  expect(connections).toBe(0);
  // It is no TLS server, but it is asked.
  expect(await problem(['127.0.0.0/8'])).not.toContain('--provider-network');
  expect(connections).toBeGreaterThan(0);
  connections = 0;
  expect(await problem([])).toContain('--provider-network');
  expect(await problem(['10.0.0.0/8'])).toContain('--provider-network');
  expect(connections).toBe(0);
});
