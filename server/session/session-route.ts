import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps/deps.ts';
import { sendProblem } from '../http/refuse.ts';
import { findCheckedSessions, type PresentedSession } from '../storage/session.ts';
import { visitorOf } from '../visitor/visitor.ts';
import { askedTogether } from './asked-together.ts';
import { identityHeaders } from './identity-headers.ts';
import { pageBehindProxy } from './page-behind-proxy.ts';
import { sessionAnswer } from './session-answer.ts';
import { toSignIn } from './to-sign-in.ts';
import { turnOfEndedSession } from './turn-of-ended-session.ts';

/**
 * `GET session` (decisions §6 and §10): who is signed in, with headers for a hub, or 401. A proxy that says which page a
 * person asked for gets the redirect to sign in instead. A half-signed-in session is not signed in.
 */
export function sessionRoute(deps: Deps) {
  const findChecked = askedTogether((presented: readonly PresentedSession[]) =>
    findCheckedSessions(deps.sql, presented),
  );
  return async function session(request: FastifyRequest, reply: FastifyReply) {
    const visitor = visitorOf(deps, request);
    const answer = await sessionAnswer(deps, visitor, findChecked);
    if (answer === null) {
      const who = await visitor.who();
      const page = pageBehindProxy(deps, request);
      if (page !== null) return toSignIn(deps, request, reply, { who, page });
      turnOfEndedSession(deps, request, reply, who);
      return sendProblem(reply, 401);
    }
    return reply
      .headers(identityHeaders(deps.config.identityHeaders, JSON.parse(answer)))
      .header('content-type', 'application/json; charset=utf-8')
      .send(answer);
  };
}
