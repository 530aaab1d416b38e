import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps/deps.ts';
import { sendProblem } from '../http/refuse.ts';
import { findCheckedSessions, type PresentedSession } from '../storage/session.ts';
import { visitorOf } from '../visitor/visitor.ts';
import { askedTogether } from './asked-together.ts';
import { sessionAnswer } from './session-answer.ts';
import { turnOfEndedSession } from './turn-of-ended-session.ts';

/** `GET session` (decisions §6): who is signed in, or 401. A half-signed-in session is not signed in. */
export function sessionRoute(deps: Deps) {
  const findChecked = askedTogether((presented: readonly PresentedSession[]) =>
    findCheckedSessions(deps.sql, presented),
  );
  return async function session(request: FastifyRequest, reply: FastifyReply) {
    const visitor = visitorOf(deps, request);
    const answer = await sessionAnswer(deps, visitor, findChecked);
    if (answer === null) {
      turnOfEndedSession(deps, request, reply, await visitor.who());
      return sendProblem(reply, 401);
    }
    return reply.header('content-type', 'application/json; charset=utf-8').send(answer);
  };
}
