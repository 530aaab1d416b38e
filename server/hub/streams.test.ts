import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type GateForTest, gateForTest, headersOf } from '#test/support/hub-for-test.ts';

// The portal's own limits are far shorter than what is tested here takes.
const timeouts = { requestTimeout: 300, headersTimeout: 250, connectionTimeout: 300, streamsLookedAtEvery: 50 };

let gate: GateForTest;
let session: string;
let port: number;
beforeAll(async () => {
  gate = await gateForTest({ publicPaths: ['/app/public'], more: { timeouts } });
  port = (gate.portal.app.server.address() as AddressInfo).port;
});
beforeEach(async () => {
  session = await gate.sessionOf('alice');
  gate.hub.received.length = 0;
});
afterAll(() => gate.close());

function begin(path: string, method = 'GET', headers: Record<string, string> = {}) {
  const sent = { host: gate.listening.host, accept: '*/*', cookie: session, ...headers };
  return httpRequest({ host: '127.0.0.1', port, path, method, headers: sent, agent: false });
}

async function answerTo(request: ReturnType<typeof begin>): Promise<IncomingMessage> {
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  return answer;
}

describe('GT-09 streams', () => {
  it('an upload takes longer than the portal’s own requests may, and is larger than they may be', async () => {
    let size = 0;
    let firstAt = 0;
    gate.hub.answers['/app/upload'] = async (request, response) => {
      for await (const chunk of request) {
        firstAt ||= performance.now();
        size += chunk.length;
      }
      response.end('all');
    };
    const request = begin('/app/upload', 'PUT', { 'content-type': 'not a type', 'transfer-encoding': 'chunked' });
    const answered = answerTo(request);
    const part = Buffer.alloc(1024 * 1024, 'x');
    for (let index = 0; index < 40; index += 1) {
      if (!request.write(part)) await once(request, 'drain');
      if (index % 10 === 0) await sleep(200);
    }
    const lastSent = performance.now();
    request.end();
    expect((await (await answered).toArray()).join('')).toBe('all');
    expect(size).toBe(40 * part.length);
    expect(lastSent - firstAt).toBeGreaterThan(2 * timeouts.requestTimeout);
  });

  it('a slow upload of somebody who is not signed in is answered at once and closed', async () => {
    const head = `POST /app/upload HTTP/1.1\r\nHost: ${gate.listening.host}\r\nContent-Length: 1000000000\r\n\r\nabc`;
    expect(await gate.listening.exchange(head, 400)).toMatchObject({ statuses: [401], closed: true });
  });

  it('GT-11 a huge answer is streamed as fast as it is read, without filling the memory', async () => {
    let sent = 0;
    gate.hub.answers['/app/huge'] = async (_request, response) => {
      const part = Buffer.alloc(1024 * 1024);
      response.setMaxListeners(0);
      for (let index = 0; index < 10_000 && !response.destroyed; index += 1) {
        sent += part.length;
        if (!response.write(part)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
      }
    };
    const answer = await answerTo(begin('/app/huge').end());
    let read = 0;
    for await (const chunk of answer) {
      read += chunk.length;
      if (read > 100 * 1024 * 1024) break;
    }
    expect(sent).toBeLessThan(read + 50 * 1024 * 1024);
    answer.destroy();
    await expect.poll(() => gate.hub.openConnections()).toBe(0);
  });
});

/** The handshake of a WebSocket. */
const handshake = (more = '', path = '/app/socket', cookie = session) =>
  `GET ${path} HTTP/1.1\r\nHost: ${gate.listening.host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
  `Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nSec-Fetch-Mode: websocket\r\n` +
  `${cookie ? `Cookie: own=1; ${cookie}\r\n` : ''}${more}\r\n`;
const origin = () => `Origin: http://${gate.listening.host}\r\n`;

describe('GT-09 WebSockets', () => {
  async function openSocket(): Promise<Socket> {
    const socket = await gate.listening.open();
    socket.write(handshake(origin()));
    const [head] = (await once(socket, 'data')) as [Buffer];
    expect(String(head)).toMatch(/^HTTP\/1\.1 101 /);
    return socket;
  }

  it('pass both ways, with who it is and without the portal’s cookies', async () => {
    const socket = await gate.listening.open();
    socket.write(`${handshake(`${origin()}X_Vestibule_User: mallory\r\n`)}at once`);
    const seen: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => seen.push(chunk));
    const text = () => Buffer.concat(seen).toString();
    await expect.poll(text).toContain('at once');
    expect(text()).toMatch(/^HTTP\/1\.1 101 /);
    expect(text()).toContain('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
    expect(text()).not.toContain('vestibule-session=x');
    socket.write('later');
    // Longer than the portal's connections may be silent.
    await sleep(400);
    await expect.poll(text).toMatch(/later$/);
    const headers = headersOf(gate.hub.received[0] ?? { rawHeaders: [] });
    expect(headers.get('x-vestibule-user')).toBe('alice');
    expect(headers.get('cookie')).toBe('own=1');
    expect(JSON.stringify([...headers])).not.toContain('mallory');
    socket.destroy();
    await expect.poll(() => gate.hub.openConnections()).toBe(0);
  });

  it('are refused to whoever is not signed in, and to another site’s page', async () => {
    const { exchange } = gate.listening;
    expect((await exchange(handshake(origin(), '/app/socket', ''), 300)).statuses).toEqual([401]);
    expect((await exchange(handshake('Origin: https://evil.example\r\n'), 300)).statuses).toEqual([403]);
    expect((await exchange(handshake('Origin: null\r\n'), 300)).statuses).toEqual([403]);
    expect((await exchange(handshake('Sec-Fetch-Site: same-site\r\n'), 300)).statuses).toEqual([403]);
    expect(gate.hub.received).toEqual([]);
    const open = await exchange(handshake('Origin: https://evil.example\r\n', '/app/public'), 300);
    expect(open.statuses).toEqual([101]);
    expect(headersOf(gate.hub.received[0] ?? { rawHeaders: [] }).has('x-vestibule-user')).toBe(false);
  });

  it('GT-12 are closed when their session ends, like events, and an upload that the hub has not answered', async () => {
    gate.hub.answers['/app/open'] = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    };
    const arrived = Promise.withResolvers<IncomingMessage>();
    gate.hub.answers['/app/upload'] = (request) => arrived.resolve(request.on('error', () => {}).resume());
    const socket = await openSocket();
    const events = await answerTo(begin('/app/open').end());
    const upload = begin('/app/upload', 'PUT', { 'transfer-encoding': 'chunked' });
    upload.on('error', () => {}).write('beginning');
    const closed = [socket, events.on('error', () => {}).resume(), upload, await arrived.promise].map(
      (stream) => new Promise((resolve) => stream.once('close', resolve)),
    );
    await sleep(200);
    // An open stream is no use, and stays open as long as its session.
    expect([socket.destroyed, events.destroyed, upload.destroyed]).toEqual([false, false, false]);
    await gate.portal.sql`delete from session`;
    await Promise.all(closed);
    await expect.poll(() => gate.hub.openConnections()).toBe(0);
  });

  it('GT-12 are closed when their user leaves one of the customers that the hub was told', async () => {
    const { sql } = gate.portal;
    await sql`insert into customer (key, name, created_at) values ('second', 'Second', now())`;
    await sql`
      insert into membership (user_id, customer_id)
      select u.id, c.id from portal_user u, customer c where u.username = 'alice' and c.key = 'second'`;
    session = await gate.sessionOf('alice');
    const socket = await openSocket();
    await sleep(200);
    expect(socket.destroyed).toBe(false);
    const closed = once(socket, 'close');
    await sql`delete from membership where customer_id = (select id from customer where key = 'second')`;
    await closed;
    expect((await gate.ask('/app/public', { cookie: session })).status).toBe(200);
  });
});

describe('GT-09 LM-05 what hides a second request is refused', () => {
  const host = () => `Host: ${gate.listening.host}\r\nCookie: ${session}\r\n`;
  const hidden = () => `GET /app/hidden HTTP/1.1\r\n${host()}\r\n`;
  const post = (fields: string, body: string) => `POST /app/x HTTP/1.1\r\n${host()}${fields}\r\n${body}${hidden()}`;

  it('and never reaches the hub', async () => {
    const end = '0\r\n\r\n';
    const cases: Record<string, string> = {
      'length and chunked': post('Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', end),
      'two lengths': post('Content-Length: 5\r\nContent-Length: 6\r\n', 'abcde'),
      xchunked: post('Transfer-Encoding: xchunked\r\n', end),
      'chunked twice': post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', end),
      'space before the colon': post('Transfer-Encoding : chunked\r\n', end),
      'folded line': post('X: y\r\n Transfer-Encoding: chunked\r\n', end),
      'bare LF after a header': `GET /app HTTP/1.1\r\nHost: ${gate.listening.host}\nX: y\r\n\r\n${hidden()}`,
      'bare LF in chunks': post('Transfer-Encoding: chunked\r\n', '0\n\n'),
      'a whole URL': `GET http://${gate.listening.host}/app HTTP/1.1\r\n${host()}\r\n${hidden()}`,
      'two Hosts': `GET /app HTTP/1.1\r\n${host()}Host: evil.example\r\n\r\n${hidden()}`,
      'NUL in a header': `GET /app HTTP/1.1\r\n${host()}X: a\0b\r\n\r\n${hidden()}`,
    };
    for (const [what, bytes] of Object.entries(cases)) {
      const { statuses, closed } = await gate.listening.exchange(bytes, 400);
      expect({ statuses, closed }, what).toEqual({ statuses: [400], closed: true });
    }
    const urls = gate.hub.received.map(({ url }) => url);
    expect(urls).not.toContain('/app/hidden');
  });

  it('a body of a method that has none is framed for the hub as it was', async () => {
    const body = hidden();
    const framed = `GET /app/x HTTP/1.1\r\n${host()}Content-Length: ${body.length}\r\n\r\n${body}`;
    expect((await gate.listening.exchange(framed, 300)).statuses).toEqual([200]);
    const chunked = `DELETE /app/x HTTP/1.1\r\n${host()}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    expect((await gate.listening.exchange(chunked, 300)).statuses).toEqual([200]);
    const claimed = `POST /app/x HTTP/1.1\r\n${host()}Connection: content-length, host\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    expect((await gate.listening.exchange(claimed, 300)).statuses).toEqual([200]);
    expect(gate.hub.received.map(({ url, body: got }) => [url, got])).toEqual([
      ['/app/x', body],
      ['/app/x', body],
      ['/app/x', body],
    ]);
  });
});

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
    await gate.listening.exchange(handshake('Content-Length: 3\r\n', path, ''), 300);
    await gate.listening.exchange(`${handshake('Transfer-Encoding: chunked\r\n', path, '')}0\r\n\r\n`, 300);
    expect((await gate.ask('/app/public', {})).status).toBe(200);
  });

  it('during the handshake of a WebSocket', async () => {
    const idle = await gate.hub.openConnections();
    await sendAndLeave(handshake(`Origin: http://${gate.listening.host}\r\n`));
    await expect.poll(() => gate.hub.openConnections()).toBe(idle);
  });
});

it('stopping waits for answers that are under way, and for no stream', async () => {
  const gate = await gateForTest();
  const cookie = await gate.sessionOf('alice');
  gate.hub.answers['/app/events'] = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
  };
  const upgraded = await gate.listening.open();
  upgraded.write(
    `GET /app/socket HTTP/1.1\r\nHost: ${gate.listening.host}\r\nCookie: ${cookie}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
  );
  await once(upgraded, 'data');
  const events = expect(gate.ask('/app/events', { cookie })).rejects.toThrow();
  const begun = Promise.withResolvers<void>();
  gate.hub.answers['/app/slow'] = (_request, response) => {
    begun.resolve();
    setTimeout(() => response.end('whole'), 500);
  };
  const slow = gate.ask('/app/slow', { cookie });
  await begun.promise;
  const closed = once(upgraded, 'close');
  await gate.portal.app.close();
  expect((await slow).body).toBe('whole');
  await events;
  await closed;
  await gate.close();
});
