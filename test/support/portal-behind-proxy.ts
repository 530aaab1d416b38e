import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import type { Config } from '#server/config/config.ts';
import { parseNetworkList } from '#server/names/network.ts';
import { type CuttableDatabase, cuttableDatabase } from './cuttable-database.ts';
import { databaseForTest } from './database-for-test.ts';
import { freePort } from './free-port.ts';
import { headersOf, hubForTest } from './hub-for-test.ts';
import { configFrom, cookiesOf, type PortalForTest, portalForTest, testPassword } from './portal-for-test.ts';
import { type Proxy as ProxyName, startProxy } from './proxy-for-test.ts';

type Headers = [name: string, value: string][];

/** A portal and a hub behind a real proxy with the files of deploy/. */
export type PortalBehindProxy = {
  port: number;
  portal: PortalForTest;
  /** The portal's own connection to its database, which can be cut. */
  wire: CuttableDatabase;
  /** Signs in at the portal and returns the cookie header of the session. */
  sessionOf: (username: string) => Promise<string>;
  /** Sends a request through the proxy, its headers as they are spelled here. */
  ask: (path: string, headers?: Headers, method?: string, body?: Buffer) => Promise<ProxyAnswer>;
  /** What the hub got, by header names in lower case; repeated ones are joined by a bar. */
  hubGot: (path: string, headers: Headers) => Promise<{ url: string; headers: Map<string, string> }>;
  /**
   * Sends these bytes with a hub in place of the other one that takes what follows a head for the next request. Returns the
   * status of the answer, 0 without one, and the lines of each head that the hub saw.
   */
  naiveHubGot: (sent: string) => Promise<{ status: number; heads: string[][] }>;
  close: () => Promise<void>;
};

type ProxyAnswer = {
  status: number;
  headers: IncomingMessage['headers'];
  location: string | undefined;
  retryAfter: string | string[] | undefined;
  body: string;
};

export async function portalBehindProxy(
  proxy: ProxyName,
  { rules, config: more = {} }: { rules?: string; config?: Partial<Config> } = {},
): Promise<PortalBehindProxy> {
  const port = await freePort();
  const database = await databaseForTest();
  const wire = await cuttableDatabase(database);
  const config = {
    ...configFrom({ PUBLIC_URL: `http://localhost:${port}` }),
    trustedProxies: parseNetworkList(['127.0.0.1']).networks,
    ...more,
  };
  const portal = await portalForTest(config, { database }, { sql: wire.sql });
  await portal.app.listen({ host: '127.0.0.1', port: 0 });
  const hub = await hubForTest();
  const serve = (socket: Socket): unknown => hub.server.emit('connection', socket);
  let served = serve;
  const hubPort = createTcpServer((socket) => served(socket)).listen(0, '127.0.0.1');
  await once(hubPort, 'listening');
  const portOf = (server: { address: () => unknown }) => (server.address() as AddressInfo).port;
  const running = await startProxy(proxy, {
    port,
    portal: portOf(portal.app.server),
    hub: portOf(hubPort),
    ...(rules && { rules }),
  });

  async function ask(path: string, headers: Headers = [], method = 'GET', body?: Buffer): Promise<ProxyAnswer> {
    const sent: Headers = [['Host', `localhost:${port}`], ...headers];
    if (!sent.some(([name]) => name === 'Accept')) sent.push(['Accept', 'text/html']);
    if (body) sent.push(['Content-Length', String(body.length)]);
    const request = httpRequest({ host: '127.0.0.1', port, path, method, headers: sent.flat() }).end(body);
    const [response] = (await Promise.race([once(request, 'response'), once(request, 'upgrade')])) as [IncomingMessage];
    const { statusCode: status = 0, headers: got } = response;
    const answered = status === 101 ? '' : await text(response);
    request.destroy();
    return { status, headers: got, location: got.location, retryAfter: got['retry-after'], body: answered };
  }

  async function naiveHubGot(sent: string): Promise<{ status: number; heads: string[][] }> {
    const heads: string[][] = [];
    const closes: Promise<unknown>[] = [];
    hub.server.closeAllConnections();
    served = (socket) => {
      closes.push(new Promise((resolve) => socket.once('close', resolve)));
      answerByHeads(socket, heads);
    };
    const socket = connect(port, '127.0.0.1', () => socket.write(sent));
    const [bytes = ''] = await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    socket.destroy();
    await Promise.all(closes);
    served = serve;
    return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(String(bytes))?.[1] ?? 0), heads };
  }

  return {
    port,
    portal,
    wire,
    ask,
    naiveHubGot,
    async sessionOf(username) {
      const headers = { 'x-forwarded-for': '203.0.113.5' };
      const cookies = cookiesOf(await portal.signIn(username, testPassword, { from: '127.0.0.1', headers }));
      return `vestibule-session=${cookies['vestibule-session']}`;
    },
    async hubGot(path, headers) {
      const { status, body } = await ask(path, headers);
      expect(status).toBe(200);
      const { url, rawHeaders } = JSON.parse(body) as { url: string; rawHeaders: string[] };
      return { url, headers: headersOf({ rawHeaders }) };
    },
    async close() {
      await running.close();
      await portal.close();
      await wire.close();
      await database.close();
      await hub.close();
      hubPort.close();
    },
  };
}

/** Answers from the head alone, as simple servers do, and takes what follows it for the next request. */
function answerByHeads(socket: Socket, heads: string[][]): void {
  let unread = '';
  socket.on('error', () => {});
  socket.on('end', () => socket.end());
  socket.on('data', (chunk) => {
    unread += chunk.toString('latin1');
    for (let isOver = false; !isOver && unread.includes('\r\n\r\n'); ) {
      const [head = ''] = unread.split('\r\n\r\n', 1);
      unread = unread.slice(head.length + 4);
      heads.push(head.split('\r\n'));
      isOver = /^connection:.*\bclose\b/im.test(head);
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n${isOver ? 'Connection: close\r\n' : ''}\r\nok`);
    }
    socket.end();
  });
}
