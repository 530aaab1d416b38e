import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest, onResponseHookHandler } from 'fastify';
import type { Deps } from '../deps.ts';
import { sendProblem } from '../http/refuse.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What metrics call the route: the name of a call, or of a page. */
    name?: string;
  }
}

/** Times each answered request, by the name of its route: `assets` for the files of the pages, `none` for no route. */
export function timeRequest({ metrics }: Deps): onResponseHookHandler {
  return function observe({ is404, routeOptions }, reply, done) {
    done();
    const route = is404 ? 'none' : (routeOptions.config.name ?? 'assets');
    metrics.requests.observe({ route, status: String(reply.statusCode) }, reply.elapsedTime / 1000);
  };
}

/** `GET /metrics` in the Prometheus text format, for callers with the token. */
export function metricsRoute({ metrics }: Deps, metricsToken: string) {
  return async function readMetrics(request: FastifyRequest, reply: FastifyReply) {
    if (!isEqual(request.headers.authorization ?? '', `Bearer ${metricsToken}`))
      return sendProblem(reply.header('www-authenticate', 'Bearer'), 401);
    return reply.type(metrics.contentType).send(await metrics.text());
  };
}

/** Compared by digest, so that timing reveals neither content nor length. */
function isEqual(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
