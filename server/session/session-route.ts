import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps.ts';
import { readTokenCookie } from '../http/cookies.ts';
import { addressOf } from '../http/guards.ts';
import { sendProblem } from '../http/refuse.ts';
import { sessionAnswer } from './session.ts';
import { turnOfEndedSession } from './turn-of-ended-session.ts';

/** `GET session` (decisions §6): who is signed in, or 401. A half-signed-in session is not signed in. */
export function sessionRoute(deps: Deps) {
  return async function session(request: FastifyRequest, reply: FastifyReply) {
    const token = readTokenCookie(request.headers, deps.config, 'session');
    const address = addressOf(deps, request);
    const answer = token && address ? await sessionAnswer(deps, token, address) : null;
    if (answer === null) {
      await turnOfEndedSession(deps, request, reply);
      return sendProblem(reply, 401);
    }
    return reply.header('content-type', 'application/json; charset=utf-8').send(answer);
  };
}
