import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps/deps.ts';
import { sendProblem } from '../http/refuse.ts';
import { beginCeremony, optionsOfSignIn } from '../passkeys/begin.ts';
import { browserToBegin } from '../passkeys/browser-to-begin.ts';
import { knownVisitorOf } from '../visitor/visitor.ts';
import { accountVisitOf } from './account-visit.ts';
import { mayProveByPasskey, proofToAsk } from './proof-to-ask.ts';

/**
 * `POST passkeys/prove/options`: begins a proof by passkey for a session that is asked for one; 401 or 409 otherwise. It names no
 * passkey: a copy of the session's cookie learns nothing from it.
 */
export function passkeyProofOptionsRoute(deps: Deps) {
  const rp = deps.config.passkeys;

  return async function passkeyProofOptions(request: FastifyRequest, reply: FastifyReply) {
    if (!rp) return sendProblem(reply, 404);
    const visitor = await knownVisitorOf(deps, request, reply);
    if (!visitor) return reply;
    const visit = await accountVisitOf(deps, visitor);
    if (!visit) return sendProblem(reply, 401);
    if (proofToAsk(visit, deps.now()) === null || !(await mayProveByPasskey(deps, visit)))
      return sendProblem(reply, 409);
    const browserToken = await browserToBegin(deps, request, reply, visitor);
    if (browserToken === null) return reply;
    const challenge = await beginCeremony(deps, browserToken, { purpose: 'prove', sessionId: visit.session.id });
    return reply.send(optionsOfSignIn(challenge, rp.id));
  };
}
