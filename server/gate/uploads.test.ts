import { type EventEmitter, once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type GateForTest, gateForTest } from '#testing/gate-for-test.ts';
import { limits } from '../limits.ts';

let gate: GateForTest;
let session: string;
beforeAll(async () => {
  gate = await gateForTest({ answerWithin: 60_000 });
});
beforeEach(async () => {
  session = await gate.sessionOf('alice');
});
afterAll(() => gate.close());

/** A request whose body goes on, and what the hub has of it. */
type Upload = { sent: ClientRequest; received: IncomingMessage; answer: ServerResponse };

const sentFor = () => ({
  host: gate.listening.host,
  accept: '*/*',
  origin: `http://${gate.listening.host}`,
  cookie: session,
});

/** Begins an upload; its beginning has reached the hub, which has not answered. */
async function begin(path: string): Promise<Upload> {
  const { port } = gate.portal.app.server.address() as AddressInfo;
  const { promise, resolve } = Promise.withResolvers<Omit<Upload, 'sent'>>();
  gate.hub.answers[path] = (received, answer) => resolve({ received: received.resume(), answer });
  const headers = { ...sentFor(), 'transfer-encoding': 'chunked' };
  const sent = httpRequest({ host: '127.0.0.1', port, path, method: 'PUT', headers, agent: false });
  // Closed by the portal.
  sent.on('error', () => {});
  sent.write('beginning');
  const atHub = await promise;
  atHub.received.on('error', () => {});
  return { sent, ...atHub };
}

/** Resolves when a connection has closed, with an error or without. */
function closeOf(stream: EventEmitter): Promise<unknown> {
  return new Promise((resolve) => stream.once('close', resolve));
}

async function answerTo({ sent }: Upload): Promise<IncomingMessage> {
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return answer;
}

describe('GT-12 what the hub has not answered', () => {
  it('ends with its session, and a handshake’s answer that goes on too', { timeout: 30_000 }, async () => {
    const upload = await begin('/app/upload');
    const upgrade = gate.hub.server.listeners('upgrade');
    gate.hub.server.removeAllListeners('upgrade');
    gate.hub.answers['/app/socket'] = (_request, response) => response.writeHead(200).flushHeaders();
    const socket = await gate.listening.open();
    const fields = Object.entries({ ...sentFor(), connection: 'Upgrade', upgrade: 'websocket' });
    socket.write(`GET /app/socket HTTP/1.1\r\n${fields.map((field) => `${field.join(': ')}\r\n`).join('')}\r\n`);
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
    gate.hub.server.on('upgrade', upgrade[0] as () => void);

    const ended = [upload.sent, upload.received, socket].map(closeOf);
    const form = ['Content-Type', 'application/x-www-form-urlencoded'] satisfies [string, string];
    const headers = [['Origin', `http://${gate.listening.host}`], form] satisfies [string, string][];
    expect((await gate.ask('/portal/logout', { method: 'POST', body: '', cookie: session, headers })).status).toBe(303);
    await Promise.all(ended);
    expect(upload.received.complete).toBe(false);
    await expect.poll(() => gate.hub.openConnections()).toBe(0);
  });

  it('counts among the streams of a user, and goes on as long as the session', { timeout: 30_000 }, async () => {
    const all = await Promise.all(
      Array.from({ length: limits.hub.streamsOfUser + 1 }, (_, n) => begin(`/app/upload/${n}`)),
    );
    await Promise.race(all.map(({ sent }) => closeOf(sent)));
    const open = all.filter(({ sent }) => !sent.destroyed);
    expect(open).toHaveLength(limits.hub.streamsOfUser);
    const [one, another] = open as [Upload, Upload];

    const answered = answerTo(one);
    one.sent.end('end');
    await once(one.received, 'end');
    one.answer.end('whole');
    expect((await (await answered).toArray()).join('')).toBe('whole');

    // What has become a stream of events ends as these do.
    const begun = answerTo(another);
    another.answer.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    const events = (await begun).toArray();
    const ended = open.slice(1).map(({ sent }) => closeOf(sent));
    await gate.portal.sql`delete from session`;
    expect(await events).toEqual([]);
    await Promise.all(ended);
  });
});
