import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SessionAnswer } from '#contract/payloads.ts';
import type { Deps } from '../deps.ts';
import { sendProblem } from '../http/refuse.ts';
import { sessionOfRequest } from './session-of-request.ts';

/** `GET session` (decisions §6): who is signed in, or 401. A half-signed-in session is not signed in. */
export function sessionRoute(deps: Deps) {
  return async function session(request: FastifyRequest, reply: FastifyReply) {
    const found = await sessionOfRequest(deps, request);
    if (found?.stage !== 'full') return sendProblem(reply, 401);
    const answer: SessionAnswer = {
      username: found.username,
      email: found.email,
      language: found.language,
      customers: found.customers,
      signedInAt: found.createdAt.toISOString(),
      expiresAt: found.endsAt.toISOString(),
    };
    return reply.header('content-type', 'application/json').send(JSON.stringify(answer));
  };
}
