import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Config } from '#server/config/config.ts';
import type { Hub, HubAudience } from '#server/config/hub.ts';
import { addAttackFixtures } from './accounts-for-test.ts';
import { type ListeningPortal, listeningPortal } from './listening-portal.ts';
import { cookiesOf, type PortalForTest, portalForTest, testPassword } from './portal-for-test.ts';

/** A portal with its gate before a sample hub, both on real sockets. */
export type GateForTest = {
  portal: PortalForTest;
  listening: ListeningPortal;
  hub: HubForTest;
  /** The Cookie header of a new session. */
  sessionOf: (username: string) => Promise<string>;
  ask: (path: string, asked?: Asked) => Promise<Answer>;
  close: () => Promise<void>;
};

export type Asked = { method?: string; headers?: [string, string][]; body?: string | Buffer; cookie?: string };

export type Answer = { status: number; headers: IncomingMessage['headers']; rawHeaders: string[]; body: string };

/** What reached the hub. */
export type Received = { method: string; url: string; rawHeaders: string[]; body: string };

type HubForTest = {
  server: Server;
  port: number;
  received: Received[];
  /** Answers of their own by path; any other request is answered with what the hub was told. */
  answers: Record<string, RequestListener>;
  openConnections: () => Promise<number>;
  close: () => Promise<void>;
};

type Options = Partial<Hub> & { config?: Partial<Config>; more?: Parameters<typeof portalForTest>[2] };

export async function gateForTest({ config, more, ...settings }: Options = {}): Promise<GateForTest> {
  const hub = await hubForTest();
  const portal = await portalForTest({ ...config, hub: hubSettings(hub.port, settings) }, undefined, more);
  await addAttackFixtures(portal);
  const listening = await listeningPortal(portal);
  const { port } = portal.app.server.address() as AddressInfo;
  return {
    portal,
    listening,
    hub,
    async sessionOf(username) {
      const cookies = cookiesOf(await portal.signIn(username, testPassword, { from: '127.0.0.1' }));
      return `vestibule-session=${cookies['vestibule-session']}`;
    },
    async ask(path, { method = 'GET', headers = [], body, cookie } = {}) {
      const sent: [string, string][] = [['Host', listening.host], ...headers];
      if (!headers.some(([name]) => name === 'Accept')) sent.push(['Accept', 'text/html']);
      if (cookie) sent.push(['Cookie', cookie]);
      const request = httpRequest({ host: '127.0.0.1', port, path, method, headers: sent.flat(), agent: false });
      request.end(body);
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      const { statusCode: status = 0, headers: got, rawHeaders } = response;
      return { status, headers: got, rawHeaders, body: await text(response) };
    },
    async close() {
      await portal.close();
      await hub.close();
    },
  };
}

function hubSettings(port: number, settings: Partial<Hub> = {}): Hub {
  return {
    url: new URL(`http://127.0.0.1:${port}`),
    paths: ['/portal/portal.html', '/app'],
    publicPaths: [],
    answerWithin: 5000,
    secret: null,
    audience: null,
    ...settings,
  };
}

/** A hub that answers with what it was told, keeps it, and accepts every WebSocket. */
export async function hubForTest(): Promise<HubForTest> {
  const received: Received[] = [];
  const answers: Record<string, RequestListener> = {};
  const sockets = new Set<Socket>();
  const server = createServer(async (request, response) => {
    const { method = '', url = '', rawHeaders } = request;
    const own = answers[url.split('?', 1)[0] ?? ''];
    if (own) return own(request, response);
    const told = { method, url, rawHeaders, body: await text(request) };
    received.push(told);
    response.setHeader('content-type', 'application/json').end(JSON.stringify(told));
  });
  // The key and the answer to it of RFC 6455 §1.3.
  server.on('upgrade', ({ method = '', url = '', rawHeaders }, socket) => {
    received.push({ method, url, rawHeaders, body: '' });
    const head = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket'];
    const accept = ['Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=', 'Set-Cookie: vestibule-session=x', '', ''];
    socket.write([...head, ...accept].join('\r\n'));
    socket.pipe(socket);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    server,
    port: (server.address() as AddressInfo).port,
    received,
    answers,
    openConnections: async () => sockets.size,
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The headers of a request to the hub by their names in lower case; repeated ones are joined by a bar. */
export function headersOf({ rawHeaders }: { rawHeaders: string[] }): Map<string, string> {
  const headers = new Map<string, string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    const value = rawHeaders[index + 1] ?? '';
    headers.set(name, headers.has(name) ? `${headers.get(name)}|${value}` : value);
  }
  return headers;
}

/** A hub that takes logout tokens. */
export type LogoutHub = {
  audience: HubAudience & { logoutUrl: string };
  /** The logout tokens that it was sent, in order. */
  tokens: string[];
  /** The status of the next answers; 200 by default, 0 breaks the connection, and `never` keeps it open until the next call. */
  answers: (status: number | 'never') => void;
  close: () => Promise<void>;
};

const formType = 'application/x-www-form-urlencoded';

export async function logoutHubForTest(
  name: string,
  { networks = ['127.0.0.1'] }: { networks?: string[] } = {},
): Promise<LogoutHub> {
  const tokens: string[] = [];
  let status: number | 'never' = 200;
  const held = new Set<ServerResponse>();
  const server = createServer(async (request, response) => {
    const type = request.headers['content-type'];
    const token = new URLSearchParams(await text(request)).get('logout_token');
    const isRight = request.method === 'POST' && request.url === '/logout' && token !== null;
    if (isRight) tokens.push(token);
    if (status === 0) request.socket.destroy();
    else if (status === 'never') held.add(response);
    else response.writeHead(isRight && type === formType ? status : 500, { location: '/elsewhere' }).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    audience: { name, logoutUrl: `http://127.0.0.1:${port}/logout`, logoutNetworks: networks },
    tokens,
    answers: (next) => {
      status = next;
      for (const response of held) response.destroy();
    },
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
