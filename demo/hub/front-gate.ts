import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { DemoServer } from '../start-server.ts';
import { secretHeader } from './start-hub.ts';

/**
 * The reverse proxy of this demo, as docs/hub.md describes it: before it passes a request for a page of the hub on, it asks
 * the portal who sent it. Everything else goes to the portal.
 */
export async function startFrontGate(
  port: number,
  portalPort: number,
  hub: { port: number; secret: string },
): Promise<DemoServer> {
  const server = createServer(
    (incoming, outgoing) =>
      void answer(incoming, outgoing).catch(() => {
        if (!outgoing.headersSent) outgoing.writeHead(502);
        outgoing.end();
      }),
  );

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { url = '/', socket } = incoming;
    const headers = { ...incoming.headers, 'x-forwarded-for': socket.remoteAddress ?? '' };
    if (!/^\/(?:hub(?:[/?]|$)|portal\/portal\.html(?:\?|$))/.test(url)) return await pass(portalPort, headers);
    const asked = { ...headers, 'x-forwarded-uri': url, 'content-length': '0' };
    const session = await send(portalPort, { method: 'GET', path: '/portal/session', headers: asked });
    if (session.statusCode === 200) {
      session.resume();
      return await pass(hub.port, { ...headersForHub(headers, session.headers), [secretHeader]: hub.secret });
    }
    forward(session, outgoing);

    async function pass(to: number, sent: IncomingHttpHeaders): Promise<void> {
      forward(await send(to, { method: incoming.method, path: url, headers: sent }, incoming), outgoing);
    }
  }

  server.listen(port, '127.0.0.1');
  await Promise.race([once(server, 'listening'), once(server, 'error').then(([error]) => Promise.reject(error))]);
  return {
    port,
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function send(port: number, options: object, body?: IncomingMessage): Promise<IncomingMessage> {
  const outgoing = request({ host: '127.0.0.1', port, ...options });
  if (body) body.pipe(outgoing);
  else outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return response;
}

function forward(from: IncomingMessage, to: ServerResponse): void {
  to.writeHead(from.statusCode ?? 502, from.rawHeaders);
  from.pipe(to);
}

/** The hub hears of a visitor from the portal alone, and never sees the portal's cookies. */
function headersForHub({ cookie: _, ...sent }: IncomingHttpHeaders, told: IncomingHttpHeaders): IncomingHttpHeaders {
  const isIdentity = (name: string) => name.startsWith('x-vestibule-');
  const kept = Object.entries(sent).filter(([name]) => !isIdentity(name));
  const identity = Object.entries(told).filter(([name]) => isIdentity(name));
  return Object.fromEntries([...kept, ...identity]);
}
