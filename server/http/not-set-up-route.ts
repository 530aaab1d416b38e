import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps.ts';
import { refuse } from './refuse.ts';

/**
 * Answers a call that this version does not serve yet, honestly: 503, before the body is even read.
 */
export function notSetUpRoute(deps: Deps) {
  const answer = async (request: FastifyRequest, reply: FastifyReply) =>
    await refuse(deps, request, reply, 503, { detail: 'not set up' });
  return { onRequest: answer, handler: answer };
}
