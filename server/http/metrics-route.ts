import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps/deps.ts';
import { methodNotAllowed } from './method-not-allowed.ts';
import { sendProblem } from './refuse.ts';

/** `GET /metrics` in the Prometheus text format, for callers with the token; absent if no token is configured. */
export function metricsRoute(deps: Deps) {
  const { metricsToken } = deps.config;
  const noRoute = methodNotAllowed(deps);

  return async function metrics(request: FastifyRequest, reply: FastifyReply) {
    if (metricsToken === null) return await noRoute(request, reply);
    if (!isEqual(request.headers.authorization ?? '', `Bearer ${metricsToken}`))
      return sendProblem(reply.header('www-authenticate', 'Bearer'), 401);
    return reply.type(deps.metrics.contentType).send(await deps.metrics.text());
  };
}

/** Compared by digest, so that timing reveals neither content nor length. */
function isEqual(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
