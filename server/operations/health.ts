import type { RouteHandlerMethod } from 'fastify';
import type { Deps } from '../deps.ts';

/** `GET /healthz`: the process answers. */
export const healthRoute: RouteHandlerMethod = async (_request, reply) => reply.type('text/plain').send('ok\n');

/** `GET /readyz`: the process can work, which requires the database. */
export function readyRoute(deps: Deps): RouteHandlerMethod {
  return async function ready(_request, reply) {
    try {
      await deps.sql`select 1`;
      return reply.type('text/plain').send('ready\n');
    } catch {
      return reply.code(503).type('text/plain').send('the database is down\n');
    }
  };
}
