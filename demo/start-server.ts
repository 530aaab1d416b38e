import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { root } from '#server/config/root.ts';
import { loadBuiltPages } from '#server/http/built-pages.ts';
import type { Html } from './html.ts';
import { type Place, thisMachine } from './place.ts';
import { brand } from './settings.ts';

/** A server of the demo. */
export type DemoServer = { port: number; close: () => Promise<void> };

/** Pages load nothing from elsewhere, and nobody frames them. */
const policy =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; frame-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/** An application without a port yet: bodies of forms arrive as URLSearchParams. */
export function demoApp({ names, tls }: Place): FastifyInstance {
  const options = { forceCloseConnections: true, bodyLimit: 64 * 1024 };
  // The two differ in a type that no page of the demo uses.
  const app = tls ? (fastify({ ...options, https: tls }) as unknown as FastifyInstance) : fastify(options);
  const parseAs = 'string' as const;
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs }, (_request, body, done) =>
    done(null, new URLSearchParams(body as string)),
  );
  app.addHook('onRequest', async (request, reply) => {
    // A page elsewhere whose name resolves to this machine (DNS rebinding) reads nothing.
    if (!names.includes(request.hostname)) return reply.code(421).send('Not a name of this machine.');
    reply.headers({
      'cache-control': 'no-store',
      'content-security-policy': policy,
      'referrer-policy': 'strict-origin',
      'x-content-type-options': 'nosniff',
    });
  });
  return app;
}

/** Listens on a port, or on any free one. Throws if the port is taken. */
export async function listen(app: FastifyInstance, { host }: Place, port = 0): Promise<DemoServer> {
  await app.listen({ host, port });
  return { port: (app.server.address() as AddressInfo).port, close: () => app.close() };
}

/** The fields of a posted form; none if the body is no form. */
export function formOf({ body }: FastifyRequest): URLSearchParams {
  return body instanceof URLSearchParams ? body : new URLSearchParams();
}

export function sendPage(reply: FastifyReply, page: Html): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(page.markup);
}

/** The given port, or else 8080 or any free one. Throws an error with one readable sentence if the given one is taken. */
export async function portFor(given: number | null, { host }: Place): Promise<number> {
  if (given === null) return await freePort(8080, host);
  if ((await tryPort(given, host)) !== null) return given;
  throw new Error(`port ${given} is in use by another process; choose another --port, or none for a free one`);
}

/** The port if nothing listens on it, else any free one. */
export async function freePort(wanted: number, host: string): Promise<number> {
  return (await tryPort(wanted, host)) ?? ((await tryPort(0, host)) as number);
}

async function tryPort(port: number, host: string): Promise<number | null> {
  const probe = createServer().listen(port, host);
  const isFree = await once(probe, 'listening').then(
    () => true,
    () => false,
  );
  if (!isFree) return null;
  const address = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return address.port;
}

/** Takes https off what comes to a port, and passes it to one of this machine; returns how to end it. */
export async function startTlsFront({ host, tls }: Place, port: number, to: number): Promise<() => void> {
  const server = createTlsServer(tls ?? {}, (outside) => {
    const inside = connect(to, thisMachine.host);
    for (const socket of [outside, inside]) socket.on('error', () => [outside, inside].map((one) => one.destroy()));
    outside.pipe(inside).pipe(outside);
  });
  // A phone that does not believe the certificate breaks off.
  server.on('tlsClientError', () => undefined);
  server.listen(port, host);
  await once(server, 'listening');
  return () => void server.close();
}

/** The colour of each part of the demo, so that a visitor sees whose page it is. The hub has the portal's. */
const colours = { desk: '#21489c', hub: brand, oidc: '#2f6b3c', saml: '#8a3a12' };

/** The styles of each part. */
export type Looks = Record<keyof typeof colours, string>;

export const noLooks: Looks = { desk: '', hub: '', oidc: '', saml: '' };

const own = readFileSync(new URL('demo/files/demo.css', root), 'utf8');

/** The portal's own styles in each colour, and after them what only the demo's pages have. Needs the built pages. */
export async function loadLooks(): Promise<Looks> {
  const styled = Object.entries(colours).map(async ([part, accentColour]) => {
    const { styles } = await loadBuiltPages({ basePath: '/portal', brand: { accentColour, texts: {} } });
    return [part, [...styles, own].join('\n')];
  });
  return Object.fromEntries(await Promise.all(styled));
}
