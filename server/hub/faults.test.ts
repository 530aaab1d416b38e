import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type GateForTest, gateForTest } from '#test/support/hub-for-test.ts';

// GT-11: a hub that answers as no server should, byte by byte.
let gate: GateForTest;
let session: string;
let server: Server;
/** What the hub does with each connection that sent a request. */
let behave: (socket: Socket, request: string) => void;
const sockets = new Set<Socket>();
const accepted = { count: 0 };

beforeAll(async () => {
  server = createServer((socket) => {
    accepted.count += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (bytes) => behave(socket, String(bytes)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  gate = await gateForTest({
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    answerWithin: 600,
  });
});
beforeEach(async () => {
  session = await gate.sessionOf('alice');
});
afterEach(() => {
  for (const socket of sockets) socket.destroy();
});
afterAll(async () => {
  await gate.close();
  server.close();
});

const script: [string, string] = ['Accept', 'application/json'];
const ask = (path = '/app', headers: [string, string][] = [], method = 'GET') =>
  gate.ask(path, { cookie: session, headers, method });

/** Nothing is left at the hub once a fault was answered. */
async function expectFreed(): Promise<void> {
  await expect.poll(() => sockets.size).toBe(0);
}

describe('GT-11 a hub that gives no answer', () => {
  const broken: Record<string, (socket: Socket) => void> = {
    'closes the connection': (socket) => socket.end(),
    'upgrades what nobody wanted upgraded': (socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
    'gives two lengths': (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'),
    'puts control characters into a header': (socket) =>
      socket.end('HTTP/1.1 200 OK\r\nX: a\x01b\r\nContent-Length: 0\r\n\r\n'),
    'sends 20 kB of headers': (socket) => socket.end(`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`),
  };

  it.each(Object.entries(broken))('%s: 502, with a page for a person', async (_, behaviour) => {
    behave = behaviour;
    const page = await ask('/app/x?lang=de');
    expect([page.status, page.headers['retry-after']]).toEqual([502, undefined]);
    expect(page.body).toContain('Die Anwendung ist nicht erreichbar');
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    expect(page.body).toMatch(/<a [^>]*href=""[^>]*>Erneut versuchen/);
    expect(page.body).not.toContain('vielleicht nicht angekommen');
    await expectFreed();
    const told = await ask('/app/x', [script]);
    expect([told.status, told.headers['content-type'], JSON.parse(told.body)]).toMatchObject([
      502,
      'application/problem+json; charset=utf-8',
      { status: 502, title: 'Bad Gateway' },
    ]);
    expect((await ask('/app/x', [script], 'POST')).status).toBe(502);
    await expectFreed();
  });

  it('that is silent: 504', async () => {
    behave = () => {};
    const page = await ask('/app/x?lang=de');
    expect([page.status, page.body.includes('<html lang="de">')]).toEqual([504, true]);
    expect((await ask('/app/x', [script])).status).toBe(504);
    await expectFreed();
  });
});

describe('GT-11 a hub that breaks off', () => {
  const cut: Record<string, (socket: Socket) => void> = {
    'in the middle of its chunks': (socket) =>
      socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n'),
    'with a reset': (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf');
      setTimeout(() => socket.resetAndDestroy(), 50);
    },
  };

  it.each(Object.entries(cut))('%s: the visitor’s answer does not look whole', async (_, behaviour) => {
    behave = behaviour;
    const { port } = gate.portal.app.server.address() as AddressInfo;
    const headers = { host: gate.listening.host, cookie: session };
    const request = httpRequest({ host: '127.0.0.1', port, path: '/app', headers, agent: false }).end();
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    await expect(answer.toArray()).rejects.toThrow('aborted');
    expect(answer.complete).toBe(false);
    await expectFreed();
  });
});

describe('connections to the hub', () => {
  it('are kept, and one that the hub closes as it is used does not show', async () => {
    const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
    behave = (socket) => socket.write(answer);
    accepted.count = 0;
    for (let round = 0; round < 3; round += 1) expect((await ask()).body).toBe('ok');
    expect(accepted.count).toBe(1);
    let isFirst = true;
    behave = (socket) => {
      if (isFirst) socket.resetAndDestroy();
      else socket.write(answer);
      isFirst = false;
    };
    expect((await ask()).body).toBe('ok');
    expect(accepted.count).toBe(2);
    isFirst = true;
    expect((await ask('/app', [script], 'POST')).status).toBe(502);
  });

  it('end after a body, which the hub may leave for the next request to begin with', async () => {
    behave = (socket, text) => text.startsWith('x') || socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    expect((await ask()).body).toBe('ok');
    accepted.count = 0;
    const length: [string, string] = ['Content-Length', '1'];
    for (const method of ['GET', 'DELETE', 'OPTIONS']) {
      const sent = await gate.ask('/app', { method, body: 'x', cookie: session, headers: [script, length] });
      expect(sent.body).toBe('ok');
    }
    expect((await ask()).body).toBe('ok');
    // The first has the connection from before, and each ends its own.
    expect(accepted.count).toBe(3);
  });
});

it('a hub behind https is sent nothing unless its certificate is for its name and by a known authority', async () => {
  const file = (name: string) => readFile(new URL(`../../test/support/${name}`, import.meta.url), 'utf8');
  const [key, cert, authority] = await Promise.all(
    ['test-only-server-key.pem', 'test-only-localhost.pem', 'test-only-authority.pem'].map(file),
  );
  let requests = 0;
  const hub = createHttpsServer({ key, cert }, (_request, response) => {
    requests += 1;
    response.end('safe');
  }).listen(0, '127.0.0.1');
  await once(hub, 'listening');
  const { port } = hub.address() as AddressInfo;
  const known = getCACertificates('default');
  const answers: string[] = [];
  for (const [name, authorities] of [
    ['localhost', known],
    ['localhost', [...known, authority as string]],
    ['127.0.0.2', [...known, authority as string]],
  ] as const) {
    setDefaultCACertificates([...authorities]);
    const gate = await gateForTest({ url: new URL(`https://${name}:${port}`) });
    const cookie = await gate.sessionOf('alice');
    const { status, body } = await gate.ask('/app', { cookie, headers: [['Accept', '*/*']] });
    answers.push(status === 200 ? body : String(status));
    await gate.close();
  }
  setDefaultCACertificates([...known]);
  hub.close();
  expect(answers).toEqual(['502', 'safe', '502']);
  expect(requests).toBe(1);
});
