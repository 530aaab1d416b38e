import type { AddressInfo } from 'node:net';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { loopbackNames } from '#server/config/public-url.ts';
import type { Html } from './html.ts';

/** A server of the demo; it listens on 127.0.0.1 alone. */
export type DemoServer = { port: number; close: () => Promise<void> };

/** Pages load nothing from elsewhere, and nobody frames them. */
const policy =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; frame-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/** An application without a port yet: bodies of forms arrive as URLSearchParams. */
export function demoApp(): FastifyInstance {
  const app = fastify({ forceCloseConnections: true, bodyLimit: 64 * 1024 });
  const parseAs = 'string' as const;
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs }, (_request, body, done) =>
    done(null, new URLSearchParams(body as string)),
  );
  app.addHook('onRequest', async (request, reply) => {
    // A page elsewhere whose name resolves to this machine (DNS rebinding) reads nothing.
    if (!loopbackNames.includes(request.hostname)) return reply.code(421).send('Not a name of this machine.');
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
export async function listen(app: FastifyInstance, port = 0): Promise<DemoServer> {
  await app.listen({ host: '127.0.0.1', port });
  return { port: (app.server.address() as AddressInfo).port, close: () => app.close() };
}

/** The fields of a posted form; none if the body is no form. */
export function formOf({ body }: FastifyRequest): URLSearchParams {
  return body instanceof URLSearchParams ? body : new URLSearchParams();
}

export function sendPage(reply: FastifyReply, page: Html): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(page.markup);
}
