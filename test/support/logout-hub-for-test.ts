import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { HubAudience } from '#server/config/hub-audiences.ts';

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
  algorithm: HubAudience['algorithm'] = 'ES256',
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
    audience: { name, algorithm, logoutUrl: `http://127.0.0.1:${port}/logout`, logoutNetworks: networks },
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
