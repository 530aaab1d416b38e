import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { type GateForTest, gateForTest, headersOf } from '#testing/gate-for-test.ts';
import { answerOn } from '#testing/listening-portal.ts';
import { limits } from '../limits.ts';
import { openStreams } from './open-streams.ts';

// The portal's own limits are far shorter than what is tested here takes.
const timeouts = { requestTimeout: 600, headersTimeout: 500, connectionTimeout: 600 };

let gate: GateForTest;
let session: string;
let port: number;
beforeAll(async () => {
  gate = await gateForTest({ rules: [{ path: '/app/public', who: 'public' }], more: { timeouts } });
  port = (gate.portal.app.server.address() as AddressInfo).port;
  await addCustomer(gate.portal, 'beta');
  await addUser(gate.portal, { username: 'grace', customers: ['acme', 'beta'] });
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
  it('an upload takes longer than the portal’s own requests may, is larger than they may be', async () => {
    const hash = createHash('sha256');
    let size = 0;
    let firstAt = 0;
    gate.hub.answers['/app/upload'] = async (request, response) => {
      for await (const chunk of request) {
        firstAt ||= performance.now();
        size += chunk.length;
        hash.update(chunk);
      }
      response.end(hash.digest('hex'));
    };
    const own = createHash('sha256');
    const request = begin('/app/upload', 'PUT', { 'content-type': 'not a type', 'transfer-encoding': 'chunked' });
    const answered = answerTo(request);
    const part = Buffer.alloc(1024 * 1024, 'x');
    for (let index = 0; index < 40; index += 1) {
      own.update(part);
      if (!request.write(part)) await once(request, 'drain');
      if (index % 10 === 0) await sleep(400);
    }
    const lastSent = performance.now();
    request.end();
    expect((await (await answered).toArray()).join('')).toBe(own.digest('hex'));
    expect(size).toBe(40 * part.length);
    expect(lastSent - firstAt).toBeGreaterThan(2 * timeouts.requestTimeout);
  });

  it('an upload is not kept: it waits for a hub that does not read', async () => {
    const { promise: mayRead, resolve: read } = Promise.withResolvers<void>();
    gate.hub.answers['/app/upload'] = async (request, response) => {
      await mayRead;
      let size = 0;
      for await (const chunk of request) size += chunk.length;
      response.end(String(size));
    };
    const request = begin('/app/upload', 'PUT', { 'transfer-encoding': 'chunked' });
    const answered = answerTo(request);
    const part = Buffer.alloc(1024 * 1024, 'x');
    // The buffers of the sockets hold some 20 MB.
    let sent = 0;
    for (let isStuck = false; sent < 100 && !isStuck; sent += 1)
      isStuck =
        !request.write(part) && (await Promise.race([once(request, 'drain').then(() => false), sleep(1000, true)]));
    expect(sent).toBeLessThan(60);
    read();
    request.end();
    expect((await (await answered).toArray()).join('')).toBe(String(sent * part.length));
  });

  it('the portal’s own forms keep their limits beside it', async () => {
    const form = `POST /portal/performlogin HTTP/1.1\r\nHost: ${gate.listening.host}\r\nContent-Type: application/x-www-form-urlencoded\r\n`;
    expect(
      (await gate.listening.exchange(`${form}Content-Length: 20000\r\n\r\n${'a'.repeat(20_000)}`)).statuses,
    ).toEqual([413]);
    const slow = await gate.listening.open();
    slow.write(`${form}Content-Length: 200\r\n\r\n`);
    const drip = setInterval(() => slow.writable && slow.write('a'), 200);
    expect((await answerOn(slow, 300)).statuses).toEqual([408]);
    clearInterval(drip);
  });

  it('a slow upload of somebody who is not signed in is answered at once and closed', async () => {
    const head = `POST /app/upload HTTP/1.1\r\nHost: ${gate.listening.host}\r\nContent-Length: 1000000000\r\n\r\nabc`;
    expect(await gate.listening.exchange(head, 400)).toMatchObject({ statuses: [401], closed: true });
  });

  it('events arrive one by one, with pauses longer than the portal’s connections may be silent', async () => {
    gate.hub.answers['/app/events'] = async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      for (const event of ['one', 'two']) {
        await sleep(900);
        response.write(`data: ${event}\n\n`);
      }
      response.end();
    };
    const answer = await answerTo(begin('/app/events').end());
    expect(answer.headers['content-type']).toBe('text/event-stream');
    const seen: string[] = [];
    for await (const chunk of answer) seen.push(String(chunk));
    expect(seen).toEqual(['data: one\n\n', 'data: two\n\n']);
  });

  it('an answer that takes longer than the portal’s own may is waited for', async () => {
    gate.hub.answers['/app/slow'] = async (_request, response) => {
      await sleep(1200);
      response.end('there');
    };
    expect((await gate.ask('/app/slow', { cookie: session })).body).toBe('there');
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

  it('a visitor who leaves frees the hub', async () => {
    gate.hub.answers['/app/never'] = () => {};
    const request = begin('/app/never').end();
    request.on('error', () => {});
    await expect.poll(() => gate.hub.openConnections()).toBeGreaterThan(0);
    request.destroy();
    await expect.poll(() => gate.hub.openConnections()).toBe(0);
  });

  it('an answer before the end of an upload arrives, and a trailer stays behind', async () => {
    gate.hub.answers['/app/early'] = (_request, response) => {
      response.writeHead(413, { trailer: 'x-end' }).write('too large');
      response.addTrailers({ 'x-end': '1' });
      response.end();
    };
    const request = begin('/app/early', 'POST', { 'content-length': '1000000' });
    request.on('error', () => {});
    request.write('a');
    const answer = await answerTo(request);
    expect(answer.statusCode).toBe(413);
    expect((await answer.toArray()).join('')).toBe('too large');
    expect([answer.headers.trailer, answer.trailers]).toEqual([undefined, {}]);
    request.destroy();
  });
});

describe('GT-09 WebSockets', () => {
  const handshake = (more = '', path = '/app/socket', cookie = session) =>
    `GET ${path} HTTP/1.1\r\nHost: ${gate.listening.host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
    `Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nSec-Fetch-Mode: websocket\r\n` +
    `${cookie ? `Cookie: own=1; ${cookie}\r\n` : ''}${more}\r\n`;
  const origin = () => `Origin: http://${gate.listening.host}\r\n`;

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
    await sleep(900);
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

  it('at the portal’s own addresses are ignored, and a hub’s refusal arrives', async () => {
    expect((await gate.listening.exchange(handshake('', '/portal/forgotten'), 300)).statuses).toEqual([200]);
    const upgradeless = gate.hub.server.listeners('upgrade');
    gate.hub.server.removeAllListeners('upgrade');
    gate.hub.answers['/app/socket'] = (_request, response) => void response.writeHead(426).end('not here');
    const refused = await gate.listening.exchange(handshake(origin()), 300);
    gate.hub.server.on('upgrade', upgradeless[0] as () => void);
    delete gate.hub.answers['/app/socket'];
    expect(refused.statuses).toEqual([426]);
    expect(refused.text).toContain('not here');
  });

  it('GT-12 are closed, like any answer that goes on, when their session ends', { timeout: 30_000 }, async () => {
    gate.hub.answers['/app/feed'] = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      const timer = setInterval(() => response.write('{}\n'), 100);
      response.on('close', () => clearInterval(timer));
    };
    const answer = await answerTo(begin('/app/feed').end());
    answer.on('error', () => {}).resume();
    await gate.portal.sql`delete from session`;
    await new Promise((resolve) => answer.on('close', resolve));
    expect(answer.complete).toBe(false);
  });

  it('GT-12 are closed, like events, when their session ends', async () => {
    gate.hub.answers['/app/open'] = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    };
    const socket = await openSocket();
    const events = await answerTo(begin('/app/open').end());
    const closed = [once(socket, 'close'), events.toArray()];
    await gate.portal.sql`delete from session`;
    await Promise.all(closed);
    await expect.poll(() => gate.hub.openConnections()).toBe(0);
  });
});

describe('GT-12 what the hub was told of who it is', () => {
  it('is true of a WebSocket and of events, or they are closed', { timeout: 30_000 }, async () => {
    const { sql } = gate.portal;
    session = await gate.sessionOf('grace');
    gate.hub.answers['/app/open'] = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    };
    const socket = await gate.listening.open();
    socket.write(
      `GET /app/socket HTTP/1.1\r\nHost: ${gate.listening.host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        `Cookie: ${session}\r\nOrigin: http://${gate.listening.host}\r\n\r\n`,
    );
    await once(socket, 'data');
    const events = await answerTo(begin('/app/open').end());
    expect(headersOf(gate.hub.received[0] ?? { rawHeaders: [] }).get('x-vestibule-customers')).toBe('acme,beta');
    const closed = [once(socket, 'close'), events.toArray()];
    await sql`update customer set active = false where key = 'beta'`;
    await Promise.all(closed);
    await sql`update customer set active = true where key = 'beta'`;
    expect((await gate.ask('/app', { cookie: session })).status).toBe(200);
  });
});

describe('GT-12 the look at the sessions of open streams', () => {
  const told = { username: 'grace', email: 'grace@acme.test', customers: ['acme', 'beta'], language: null };

  async function isClosed(change: () => unknown, person = told): Promise<boolean> {
    const { sql } = gate.portal;
    await gate.ask('/app', { cookie: session });
    const [row] = await sql<{ tokenHash: Buffer }[]>`
      select token_hash as "tokenHash" from session order by created_at desc, last_seen_at desc limit 1`;
    let closed = false;
    const streams = openStreams(gate.portal.deps);
    streams.add({
      ...{ tokenHash: row?.tokenHash as Buffer, userId: 'grace', address: '127.0.0.1', closesAtStop: () => true },
      person: { ...person, signedInAt: '', expiresAt: '' },
      close: () => {
        closed = true;
      },
    });
    await change();
    await streams.look();
    return closed;
  }
  beforeEach(async () => {
    await gate.portal.sql`delete from session`;
    session = await gate.sessionOf('grace');
  });

  it('closes nothing that is still open, and does not count as use', async () => {
    expect(await isClosed(() => {})).toBe(false);
    const { sessionIdle } = gate.portal.deps.config;
    expect(await isClosed(() => gate.portal.wait(sessionIdle))).toBe(true);
  });

  it('closes the oldest of somebody who has too many, and nobody else’s', () => {
    const streams = openStreams(gate.portal.deps);
    const { streamsOfUser, streamsOfAddress } = limits.hub;
    const closed: string[] = [];
    const open = (name: string, userId: string | null) =>
      streams.add({
        ...{ tokenHash: null, userId, address: '203.0.113.5', person: null, closesAtStop: () => true },
        close: () => void closed.push(name),
      });
    open('other', 'bob');
    open('nobody', null);
    const forgets = Array.from({ length: streamsOfUser }, (_, n) => open(String(n), 'alice'));
    expect(closed).toEqual([]);
    open('next', 'alice');
    open('after', 'alice');
    expect(closed).toEqual(['0', '1']);
    // Those that have ended make room.
    for (const forget of forgets) forget();
    for (let n = 2; n < streamsOfUser; n += 1) open('again', 'alice');
    expect(closed).toHaveLength(2);
    for (let n = 0; n < streamsOfAddress; n += 1) open('public', null);
    expect(closed.slice(2)).toEqual(['nobody']);
  });

  it('closes what a change of the user, the customer or its networks makes untrue for the hub', async () => {
    const { sql } = gate.portal;
    const changes: Record<string, [() => unknown, () => unknown]> = {
      networks: [
        () => sql`update customer set allowed_networks = '{203.0.113.0/24}' where key = 'beta'`,
        () => sql`update customer set allowed_networks = '{}' where key = 'beta'`,
      ],
      'a customer’s end': [
        () => sql`update customer set active = false where key = 'beta'`,
        () => sql`update customer set active = true where key = 'beta'`,
      ],
      'a removal': [
        () => sql`delete from membership using customer c where c.id = customer_id and c.key = 'beta'`,
        () =>
          sql`insert into membership select u.id, c.id from portal_user u, customer c where u.username = 'grace' and c.key = 'beta'`,
      ],
      'another name': [
        () => sql`update portal_user set username = 'gracie' where username = 'grace'`,
        () => sql`update portal_user set username = 'grace' where username = 'gracie'`,
      ],
      'another email': [
        () => sql`update portal_user set email = 'other@acme.test' where username = 'grace'`,
        () => sql`update portal_user set email = 'grace@acme.test' where username = 'grace'`,
      ],
      'another language': [
        () => sql`update portal_user set language = 'de' where username = 'grace'`,
        () => sql`update portal_user set language = null where username = 'grace'`,
      ],
      'the user’s end': [
        () => sql`update portal_user set active = false where username = 'grace'`,
        () => sql`update portal_user set active = true where username = 'grace'`,
      ],
    };
    for (const [what, [change, undo]] of Object.entries(changes)) {
      expect(await isClosed(change), what).toBe(true);
      await undo();
      expect(await isClosed(() => {}), what).toBe(false);
    }
    // Also if it has changed before the stream began, and the check of its session is kept.
    expect(await isClosed(() => {}, { ...told, customers: ['acme'] })).toBe(true);
  });

  it('leaves open what a change makes untrue for no hub', async () => {
    const { sql } = gate.portal;
    const others = [
      () => sql`update session set last_seen_at = last_seen_at + interval '1 second'`,
      () => sql`update session set checked_version = null, answer = null`,
      () => sql`update session set ends_at = ends_at - interval '1 minute'`,
      () => sql`update portal_user set password_hash = password_hash, email = 'new@acme.test' where username = 'frank'`,
      () => sql`update customer set name = 'ACME' where key = 'acme'`,
    ];
    for (const change of others) expect(await isClosed(change)).toBe(false);
  });

  it('at the portal’s stop closes those alone that the hub has answered', () => {
    const streams = openStreams(gate.portal.deps);
    const closed: string[] = [];
    for (const name of ['answered', 'awaited'])
      streams.add({
        ...{ tokenHash: null, userId: null, address: '203.0.113.5', person: null },
        closesAtStop: () => name === 'answered',
        close: () => void closed.push(name),
      });
    streams.stop();
    expect(closed).toEqual(['answered']);
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
      'a list of lengths': post('Content-Length: 5, 5\r\n', 'abcde'),
      'signed length': post('Content-Length: +5\r\n', 'abcde'),
      xchunked: post('Transfer-Encoding: xchunked\r\n', end),
      'chunked twice': post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', end),
      'gzip, chunked': post('Transfer-Encoding: gzip, chunked\r\n', end),
      'space before the colon': post('Transfer-Encoding : chunked\r\n', end),
      'folded line': post('X: y\r\n Transfer-Encoding: chunked\r\n', end),
      'bare LF after the line': `GET /app HTTP/1.1\n${host()}\r\n${hidden()}`,
      'bare LF after a header': `GET /app HTTP/1.1\r\nHost: ${gate.listening.host}\nX: y\r\n\r\n${hidden()}`,
      'bare LF in chunks': post('Transfer-Encoding: chunked\r\n', '0\n\n'),
      'a whole URL': `GET http://${gate.listening.host}/app HTTP/1.1\r\n${host()}\r\n${hidden()}`,
      'two Hosts': `GET /app HTTP/1.1\r\n${host()}Host: evil.example\r\n\r\n${hidden()}`,
      'another version': `GET /app HTTP/2.0\r\n${host()}\r\n${hidden()}`,
      'a space in the path': `GET /app/ x HTTP/1.1\r\n${host()}\r\n${hidden()}`,
      'NUL in a header': `GET /app HTTP/1.1\r\n${host()}X: a\0b\r\n\r\n${hidden()}`,
    };
    for (const [what, bytes] of Object.entries(cases)) {
      const { statuses, closed } = await gate.listening.exchange(bytes, 400);
      expect({ statuses, closed }, what).toEqual({ statuses: [400], closed: true });
    }
    const urls = gate.hub.received.map(({ url }) => url);
    expect(urls).not.toContain('/app/hidden');
  });

  it('an upgrade to h2c is none, and the hub never hears of it', async () => {
    const h2c = `GET /app/x HTTP/1.1\r\n${host()}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`;
    expect((await gate.listening.exchange(h2c, 300)).statuses).toEqual([200]);
    const headers = headersOf(gate.hub.received[0] ?? { rawHeaders: [] });
    expect([headers.has('upgrade'), headers.has('http2-settings')]).toEqual([false, false]);
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

  it('a visitor who sends half of a body leaves nothing at the hub', async () => {
    const arrived = Promise.withResolvers<IncomingMessage>();
    gate.hub.answers['/app/half'] = (request) => arrived.resolve(request.resume());
    const socket = await gate.listening.open();
    socket.write(`POST /app/half HTTP/1.1\r\n${host()}Content-Length: 100\r\n\r\nhalf`);
    const atHub = await arrived.promise;
    const freed = new Promise((resolve) => atHub.socket.on('close', resolve));
    atHub.on('error', () => {});
    socket.end();
    expect((await answerOn(socket, 300)).statuses).not.toContain(200);
    await freed;
    expect(atHub.complete).toBe(false);
  });
});
