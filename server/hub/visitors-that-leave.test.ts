import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GateForTest, gateForTest } from '#test/support/hub-for-test.ts';

let gate: GateForTest;
let session: string;
beforeAll(async () => {
  gate = await gateForTest({ publicPaths: ['/app/public'] });
  session = await gate.sessionOf('alice');
});
afterAll(() => gate.close());

const handshake = (path: string, more = '') =>
  `GET ${path} HTTP/1.1\r\nHost: ${gate.listening.host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
  `Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n${more}\r\n`;

/** Sends bytes on twenty connections and leaves, each after a longer while. */
async function sendAndLeave(bytes: string): Promise<void> {
  for (let index = 0; index < 20; index += 1) {
    const socket = await gate.listening.open();
    socket.write(bytes);
    await sleep(index);
    socket.resetAndDestroy();
  }
}

// An uncaught error, which would end the portal's process, fails these tests too.
describe('GT-11 nothing of a visitor who leaves remains', () => {
  it.each(['/app/public/socket', '/portal/login'])('a handshake with a body at %s ends nothing', async (path) => {
    await gate.listening.exchange(handshake(path, 'Content-Length: 3\r\n'), 300);
    await gate.listening.exchange(`${handshake(path, 'Transfer-Encoding: chunked\r\n')}0\r\n\r\n`, 300);
    expect((await gate.ask('/app/public', {})).status).toBe(200);
  });

  it('during the handshake of a WebSocket', async () => {
    const idle = await gate.hub.openConnections();
    await sendAndLeave(handshake('/app/socket', `Cookie: ${session}\r\nOrigin: http://${gate.listening.host}\r\n`));
    await expect.poll(() => gate.hub.openConnections()).toBe(idle);
  });

  it('before the hub was asked', async () => {
    const idle = await gate.hub.openConnections();
    gate.hub.answers['/app/silent'] = () => {};
    await sendAndLeave(`GET /app/silent HTTP/1.1\r\nHost: ${gate.listening.host}\r\nCookie: ${session}\r\n\r\n`);
    await expect.poll(() => gate.hub.openConnections(), { timeout: 2000 }).toBeLessThanOrEqual(idle);
  });

  it('after the hub was asked on a kept connection: it is asked once', async () => {
    let asked = 0;
    gate.hub.answers['/app/slow'] = () => {
      asked += 1;
    };
    for (let visit = 1; visit <= 5; visit += 1) {
      expect((await gate.ask('/app/public')).status).toBe(200);
      const socket = await gate.listening.open();
      socket.write(`GET /app/slow HTTP/1.1\r\nHost: ${gate.listening.host}\r\nCookie: ${session}\r\n\r\n`);
      await expect.poll(() => asked).toBe(visit);
      socket.resetAndDestroy();
      await expect.poll(() => gate.hub.openConnections()).toBe(0);
      expect(asked).toBe(visit);
    }
  });
});
