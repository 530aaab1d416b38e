import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import type { Deps } from '../deps.ts';
import { sendProblem } from '../http/refuse.ts';
import { quietLevel } from '../http/request-log.ts';

/** Adds what monitoring asks. */
export function addOperations(app: FastifyInstance, deps: Deps): void {
  const quiet = (name: string) => ({ logLevel: quietLevel, config: { name } }) as const;
  const { metricsToken } = deps.config;
  app.get('/healthz', quiet('health'), healthRoute);
  app.get('/readyz', quiet('ready'), readyRoute(deps));
  if (metricsToken !== null) app.get('/metrics', quiet('metrics'), metricsRoute(deps, metricsToken));
}

const healthRoute: RouteHandlerMethod = async (_request, reply) => reply.type('text/plain').send('ok\n');

/** `GET /readyz`: the process can work, which requires the database. */
function readyRoute(deps: Deps): RouteHandlerMethod {
  return async function ready(_request, reply) {
    try {
      await deps.sql`select 1`;
      return reply.type('text/plain').send('ready\n');
    } catch {
      return reply.code(503).type('text/plain').send('the database is down\n');
    }
  };
}

/** `GET /metrics` in the Prometheus text format, for callers with the token. */
function metricsRoute({ metrics }: Deps, metricsToken: string) {
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
