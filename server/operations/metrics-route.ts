import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps.ts';
import { sendProblem } from '../http/refuse.ts';

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
