import type { FastifyRequest, onResponseHookHandler } from 'fastify';
import type { Deps } from '../deps/deps.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What metrics and traces call the route: the name of a call, or of a page. */
    name?: string;
  }
}

/** The name of a request's route; `assets` for the files of the pages, `none` if no route has the address. */
export function routeName({ is404, routeOptions }: FastifyRequest): string {
  return is404 ? 'none' : (routeOptions.config.name ?? 'assets');
}

/** Counts each answered request and its time. */
export function countRequest({ metrics }: Deps): onResponseHookHandler {
  return function countAnswer(request, reply, done) {
    done();
    const route = routeName(request);
    metrics.requests.inc({ route, status: String(reply.statusCode) });
    metrics.requestTime.observe({ route }, reply.elapsedTime / 1000);
  };
}
