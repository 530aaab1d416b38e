import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addAttackFixtures, addUser } from '#testing/accounts-for-test.ts';
import { type CuttableDatabase, cuttableDatabase } from '#testing/cuttable-database.ts';
import { type DatabaseForTest, databaseForTest } from '#testing/database-for-test.ts';
import { freePort } from '#testing/free-port.ts';
import { configFrom, cookiesOf, type PortalForTest, portalForTest, testPassword } from '#testing/portal-for-test.ts';
import { startProxy } from '#testing/proxy-for-test.ts';
import { parseNetworkList } from '../names/network-list.ts';

// Real proxies with the files of deploy/, in front of a hub that tells what it is sent.
describe.each(['nginx', 'caddy', 'haproxy'] as const)('behind %s', (proxy) => {
  let port: number;
  let database: DatabaseForTest;
  let wire: CuttableDatabase;
  let portal: PortalForTest;
  let session: string;
  const closers: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    port = await freePort();
    database = await databaseForTest();
    wire = await cuttableDatabase(database);
    const config = {
      ...configFrom({ PUBLIC_URL: `http://localhost:${port}` }),
      trustedProxies: parseNetworkList(['127.0.0.1']).networks,
    };
    portal = await portalForTest(config, { database }, { sql: wire.sql });
    await addAttackFixtures(portal);
    await addUser(portal, { username: 'Zoë O’Neil, 100%', email: 'zoe@acme.test', language: 'de' });
    await portal.app.listen({ host: '127.0.0.1', port: 0 });
    const hub = createServer(({ url, rawHeaders }, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ url, rawHeaders }));
    }).listen(0, '127.0.0.1');
    // The key and the answer to it of RFC 6455 §1.3.
    hub.on('upgrade', (_request, socket) => {
      const head = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket'];
      socket.end([...head, 'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=', '', ''].join('\r\n'));
    });
    await once(hub, 'listening');
    const portOf = (server: { address: () => unknown }) => (server.address() as AddressInfo).port;
    const running = await startProxy(proxy, { port, portal: portOf(portal.app.server), hub: portOf(hub) });
    closers.push(
      () => running.close(),
      () => portal.close(),
      () => wire.close(),
      () => database.close(),
      async () => hub.close(),
    );
    // The proxy may have to be installed first.
  }, 180_000);
  beforeEach(async () => {
    session = await sessionOf('alice');
  });
  afterAll(async () => {
    for (const close of closers) await close();
  });

  /** Signs in at the portal and returns the cookie header of the session. */
  async function sessionOf(username: string): Promise<string> {
    const headers = { 'x-forwarded-for': '203.0.113.5' };
    const cookies = cookiesOf(await portal.signIn(username, testPassword, { from: '127.0.0.1', headers }));
    return `vestibule-session=${cookies['vestibule-session']}`;
  }

  /** Sends a request through the proxy, its headers as they are spelled here. */
  async function ask(path: string, headers: [name: string, value: string][] = [], method = 'GET') {
    const sent: [string, string][] = [['Host', `localhost:${port}`], ...headers];
    if (!sent.some(([name]) => name === 'Accept')) sent.push(['Accept', 'text/html']);
    const request = httpRequest({ host: '127.0.0.1', port, path, method, headers: sent.flat() }).end();
    const [response] = (await Promise.race([once(request, 'response'), once(request, 'upgrade')])) as [IncomingMessage];
    const { statusCode: status = 0, headers: got } = response;
    const body = status === 101 ? '' : await text(response);
    request.destroy();
    return { status, location: got.location, retryAfter: got['retry-after'], body };
  }

  /** What the hub got, by header names in lower case; repeated ones are joined by a bar. */
  async function hubGot(
    path: string,
    headers: [string, string][],
  ): Promise<{ url: string; headers: Map<string, string> }> {
    const { status, body } = await ask(path, headers);
    expect(status).toBe(200);
    const { url, rawHeaders } = JSON.parse(body) as { url: string; rawHeaders: string[] };
    const got = new Map<string, string>();
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const name = rawHeaders[index]?.toLowerCase() ?? '';
      const value = rawHeaders[index + 1] ?? '';
      got.set(name, got.has(name) ? `${got.get(name)}|${value}` : value);
    }
    return { url, headers: got };
  }

  it('GT-13 a signed-out person is sent to sign in, and from there to the page first asked for', async () => {
    const page = '/app/a%20b/list?x=1&y=%2F2';
    const first = await ask(page);
    expect([first.status, first.location]).toEqual([302, `/portal/?${new URLSearchParams({ destination: page })}`]);
    const form = await ask(first.location ?? '');
    expect(form.status).toBe(200);
    const [, destination = ''] = /name="redirectURL" value="([^"]*)"/.exec(form.body) ?? [];
    const redirectURL = destination.replaceAll('&amp;', '&');
    const answer = await portal.signIn('alice', testPassword, {
      from: '127.0.0.1',
      headers: { 'x-forwarded-for': '203.0.113.5' },
      form: { username: 'alice', password: testPassword, redirectURL },
    });
    expect(answer.headers.location).toBe(page);
  });

  it('a signed-in person’s request reaches the hub with who they are', async () => {
    const { url, headers } = await hubGot('/app?x=1&y=2', [['Cookie', session]]);
    expect(url).toBe('/app?x=1&y=2');
    expect(headers.get('x-vestibule-user')).toBe('alice');
    expect(headers.get('x-vestibule-email')).toBe('alice@acme.test');
    expect(headers.get('x-vestibule-customers')).toBe('acme');
    const zoe = await hubGot('/app', [['Cookie', await sessionOf('Zoë O’Neil, 100%')]]);
    expect(zoe.headers.get('x-vestibule-user')).toBe(encodeURIComponent('Zoë O’Neil, 100%').replace('%27', "'"));
    expect(zoe.headers.get('x-vestibule-language')).toBe('de');
  });

  it('GT-03 GT-04 GT-05 identity headers that a client sends never arrive', async () => {
    const forged: [string, string][] = [
      ['X-Vestibule-User', 'bob'],
      ['X-VESTIBULE-USER', 'bob'],
      ['x_vestibule_user', 'bob'],
      ['X-Vestibule-Language', 'bob'],
      ['X-Vestibule-Email', 'bob'],
      ['X-Vestibule-Customers', 'bob'],
    ];
    const { headers } = await hubGot('/app', [['Cookie', session], ...forged]);
    expect(headers.get('x-vestibule-user')).toBe('alice');
    expect([...headers].filter(([, value]) => value.includes('bob'))).toEqual([]);
    const hopByHop = await hubGot('/app', [
      ['Cookie', session],
      ['Connection', 'X-Vestibule-User, X-Vestibule-Email'],
    ]);
    expect(hopByHop.headers.get('x-vestibule-user')).toBe('alice');
    expect(hopByHop.headers.get('x-vestibule-email')).toBe('alice@acme.test');
  });

  it('GT-01 no cookie, and cookies that are no session, let nobody in', async () => {
    const token = session.slice(session.indexOf('=') + 1);
    const cookies = ['', 'vestibule-session=', `vestibule-session=${token}x`, `vestibule-session="${token}"`];
    for (const cookie of [...cookies, `vestibule-session=${'x'.repeat(5000)}`, `${session}; ${session}`, '%00=;;'])
      expect([cookie.slice(0, 40), (await ask('/app', [['Cookie', cookie]])).status]).toEqual([
        cookie.slice(0, 40),
        302,
      ]);
  });

  it('a script, and a request that changes something, get 401 instead of the redirect', async () => {
    expect((await ask('/app/data', [['Accept', 'application/json']])).status).toBe(401);
    expect((await ask('/app/data', [['Sec-Fetch-Mode', 'cors']])).status).toBe(401);
    expect((await ask('/app/data', [], 'POST')).status).toBe(401);
  });

  it('GT-06 what a client says of the page it wants counts nowhere', async () => {
    const lies: [string, string][] = [
      ['X-Forwarded-Uri', '/elsewhere'],
      ['X-Forwarded-Method', 'GET'],
      ['X-Forwarded-Host', 'evil.example'],
      ['X-Original-URL', '/portal/login'],
      ['X-Rewrite-URL', '/portal/login'],
    ];
    const asked = await ask('/app/page', lies);
    expect([asked.status, asked.location]).toEqual([302, '/portal/?destination=%2Fapp%2Fpage']);
    expect((await ask('/app/page', [...lies, ['Accept', 'application/json']])).status).toBe(401);
    expect((await ask('/portal/session', lies)).status).toBe(401);
  });

  it('the trace that a client names does not reach the portal, which would continue it', async () => {
    const got: (string | undefined)[] = [];
    const note = ({ url, headers }: IncomingMessage) => got.push(`${url} ${headers.traceparent ?? 'none'}`);
    portal.app.server.on('request', note);
    const named: [string, string] = ['traceparent', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'];
    await ask('/app', [['Cookie', session], named]);
    await ask('/app', [named]);
    await ask('/portal/', [named]);
    portal.app.server.off('request', note);
    expect(got.length).toBeGreaterThanOrEqual(3);
    for (const line of got) expect(line).toMatch(/ (?:none)?$/);
  });

  it('GT-13 an address that is no page of ours is not where sign-in leads', async () => {
    const { location } = await ask('//evil.example/page');
    expect(location).not.toContain('evil.example');
  });

  it('GT-12 a session that has ended is refused at the very next request', async () => {
    expect((await ask('/app', [['Cookie', session]])).status).toBe(200);
    await portal.sql`delete from session`;
    expect((await ask('/app', [['Cookie', session]])).status).toBe(302);
  });

  it('a customer’s networks are checked at every request', async () => {
    const fenced = await sessionOf('carol');
    expect((await ask('/app', [['Cookie', fenced]])).status).toBe(302);
    expect(
      (
        await ask('/app', [
          ['Cookie', fenced],
          ['X-Forwarded-For', '203.0.113.5'],
        ])
      ).status,
    ).toBe(302);
  });

  it('GT-09 a WebSocket passes for whoever is signed in, and for nobody else', async () => {
    const upgrade: [string, string][] = [
      ['Connection', 'Upgrade'],
      ['Upgrade', 'websocket'],
      ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
      ['Sec-WebSocket-Version', '13'],
      ['Sec-Fetch-Mode', 'websocket'],
    ];
    expect((await ask('/socket', [['Cookie', session], ...upgrade])).status).toBe(101);
    expect((await ask('/socket', upgrade)).status).toBe(401);
  });

  it('GT-15 without the database nobody is let in, and the answer says when to try again', async () => {
    wire.cut();
    const { status, retryAfter } = await ask('/app', [['Cookie', session]]);
    wire.mend();
    expect(status).toBe(503);
    expect(retryAfter).toMatch(/^\d+$/);
  });

  it('GT-15 without the portal nobody is let in', async () => {
    await portal.app.close();
    expect([502, 503]).toContain((await ask('/app', [['Cookie', session]])).status);
  });
});

it('nobody but a trusted proxy says which page was asked for', async () => {
  const portal = await portalForTest();
  const answer = await portal.send({ url: '/portal/session', headers: { 'x-forwarded-uri': '/app' } });
  await portal.close();
  expect(answer.statusCode).toBe(401);
});
