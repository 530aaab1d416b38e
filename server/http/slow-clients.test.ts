import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { answerOn, type ListeningPortal, listeningPortal } from '#test/support/listening-portal.ts';
import { type PortalForTest, portalForTest } from '#test/support/portal-for-test.ts';

// Shorter than the product's, except for what a busy machine needs.
const timeouts = { headersTimeout: 1000, requestTimeout: 1500, connectionTimeout: 15_000, keepAliveTimeout: 7200 };

let portal: PortalForTest;
let listening: ListeningPortal;
let host: string;
beforeAll(async () => {
  portal = await portalForTest({}, undefined, { timeouts });
  await addAttackFixtures(portal);
  listening = await listeningPortal(portal);
  host = `Host: ${listening.host}\r\n`;
});
afterAll(() => portal.close());

/** Sends a text one byte every 50 ms for as long as the portal listens; returns its answer and after how long. */
async function drip(socket: Socket, text: string) {
  const started = performance.now();
  let at = 0;
  const timer = setInterval(() => {
    if (socket.writable) socket.write(text.charAt(at));
    at += 1;
  }, 50);
  const answer = await answerOn(socket, 5000);
  clearInterval(timer);
  return { ...answer, after: performance.now() - started };
}

describe('slow clients', () => {
  it('LM-06 LM-02 slow headers, slow bodies and endless chunks are cut with 408', async () => {
    const start = `POST /portal/performlogin HTTP/1.1\r\n${host}Content-Type: application/x-www-form-urlencoded\r\n`;
    const body = await listening.open();
    body.write(`${start}Content-Length: 500\r\n\r\n`);
    const chunks = await listening.open();
    chunks.write(`${start}Transfer-Encoding: chunked\r\n\r\n`);
    const cut = await Promise.all([
      drip(await listening.open(), `GET /portal/login HTTP/1.1\r\n${host}X: ${'a'.repeat(500)}`),
      drip(body, 'a'.repeat(500)),
      drip(chunks, '1\r\na\r\n'.repeat(100)),
      answerOn(await listening.open(), 5000).then((answer) => ({ ...answer, after: 0 })),
    ]);
    for (const { statuses, closed, after } of cut) {
      expect({ statuses, closed }).toEqual({ statuses: [408], closed: true });
      // Sooner than a connection that sends nothing, or all of it, would end; a busy machine is late.
      expect(after).toBeLessThan(timeouts.requestTimeout + 10_000);
    }
  });

  it('LM-07 500 idle connections keep nobody waiting', async () => {
    const idle = await Promise.all(Array.from({ length: 500 }, () => listening.open()));
    const started = performance.now();
    const page = await listening.exchange(`GET /portal/login HTTP/1.1\r\n${host}Connection: close\r\n\r\n`);
    expect(page.statuses).toEqual([200]);
    const form = 'username=bob&password=Lantern-Harbour-42';
    const signedIn = await listening.exchange(
      `POST /portal/performlogin HTTP/1.1\r\n${host}Connection: close\r\n` +
        `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${form.length}\r\n\r\n${form}`,
    );
    expect(signedIn.statuses).toEqual([303]);
    // Waiting for one of them would take as long as a connection may send nothing.
    expect(performance.now() - started).toBeLessThan(limits.headersTimeout);
    for (const socket of idle) socket.destroy();
    expect(portal.app.server.maxConnections).toBe(limits.connections);
  });
});
