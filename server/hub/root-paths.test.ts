import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type GateForTest, gateForTest } from '#test/support/hub-for-test.ts';

describe('a hub that has every address but the portal’s', () => {
  let gate: GateForTest;
  let session: string;
  beforeAll(async () => {
    gate = await gateForTest({ paths: ['/portal/portal.html', '/'], publicPaths: ['/open'] });
  });
  beforeEach(async () => {
    session = await gate.sessionOf('alice');
    gate.hub.received.length = 0;
  });
  afterAll(() => gate.close());

  it('GT-07 never gets the portal’s, whatever the method or the spelling', async () => {
    const spelled = ['/portal', '/portal/', '/portal/login', '/portal/nothing', '/healthz', '/readyz', '/metrics'];
    const other = ['/Portal/login', '/%70ortal/login', '//portal/login', '/portal;x/login', '/portal%2Flogin'];
    for (const path of [
      ...spelled,
      ...other,
      '/.well-known/change-password',
      '/.well-known/passkey-endpoints',
      '/portal/authenticate/saml/acs',
    ])
      for (const method of ['GET', 'POST', 'OPTIONS', 'PROPFIND', 'DELETE'])
        await gate.ask(path, { method, cookie: session });
    expect(gate.hub.received).toEqual([]);
    expect((await gate.ask('/portal/login', { method: 'DELETE', cookie: session })).status).toBe(405);
    expect((await gate.ask('/healthz', { method: 'POST', cookie: session })).status).toBe(405);
  });
});

describe('stopping', () => {
  it('waits for answers that are under way, and for no stream', async () => {
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
});

describe('a hub behind https', () => {
  it('is sent nothing unless its certificate is for its name and by a known authority', async () => {
    const file = (name: string) => readFile(new URL(`../../test/support/${name}`, import.meta.url), 'utf8');
    const [key, cert, authority] = await Promise.all(
      ['test-only-server-key.pem', 'test-only-localhost.pem', 'test-only-authority.pem'].map(file),
    );
    let requests = 0;
    const hub = createServer({ key, cert }, (_request, response) => {
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
});
