import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SessionAnswer } from '#contract/payloads.ts';
import type { Deps } from '../deps/deps.ts';
import { isForeignAhead } from '../http/navigation.ts';
import { refuse, sendProblem } from '../http/refuse.ts';
import { splitUrl } from '../http/request-url.ts';
import { hubTokens } from '../hub/hub-tokens.ts';
import { findCheckedSessions, type PresentedSession } from '../storage/session.ts';
import { visitorOf } from '../visitor/visitor.ts';
import { askedTogether } from './asked-together.ts';
import { identityHeaders } from './identity-headers.ts';
import { isForeignSocket } from './is-foreign-socket.ts';
import { pageBehindProxy } from './page-behind-proxy.ts';
import { refuseOtherCustomers } from './refuse-other-customers.ts';
import { sessionAnswer } from './session-answer.ts';
import { readSessionQuery } from './session-query.ts';
import { toSignIn } from './to-sign-in.ts';
import { turnOfEndedSession } from './turn-of-ended-session.ts';

/**
 * `GET session` (decisions §6 and §10): who is signed in, with headers for a hub, or 401. A proxy that says which page a
 * person asked for gets the redirect to sign in instead. A half-signed-in session is not signed in. `?customer=` lets only
 * users of these customers through, and `?audience=` adds a token for a hub.
 */
export function sessionRoute(deps: Deps) {
  const findChecked = askedTogether((presented: readonly PresentedSession[]) =>
    findCheckedSessions(deps.sql, presented),
  );
  const hubToken = hubTokens(deps);
  return async function session(request: FastifyRequest, reply: FastifyReply) {
    const visitor = visitorOf(deps, request);
    const signedIn = await sessionAnswer(deps, visitor, findChecked);
    if (signedIn === null) {
      const who = await visitor.who();
      const page = pageBehindProxy(deps, request);
      if (page !== null) return toSignIn(deps, request, reply, { who, page });
      turnOfEndedSession(deps, request, reply, who);
      return sendProblem(reply, 401);
    }
    if (isForeignSocket(deps, request))
      return sendProblem(reply, 403, { title: 'A page of another origin asked for a WebSocket' });
    if (isForeignAhead(request.headers))
      return sendProblem(reply, 403, { title: 'A page of another host fetched ahead' });
    const reading = readSessionQuery(deps, splitUrl(request.url).search);
    if (reading.kind === 'refused') return await refuse(deps, request, reply, 400, reading);
    const { customers, audience } = reading.query;
    const person = JSON.parse(signedIn.answer) as SessionAnswer;
    if (customers && !person.customers.some((key) => customers.includes(key)))
      return await refuseOtherCustomers(deps, request, reply, { ...signedIn, person, customers });
    const token = audience && (await hubToken({ ...signedIn, person }, audience));
    return reply
      .headers(identityHeaders(deps.config.identityHeaders, person, token))
      .header('content-type', 'application/json; charset=utf-8')
      .send(signedIn.answer);
  };
}
