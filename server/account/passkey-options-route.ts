import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps/deps.ts';
import { refuse, sendProblem } from '../http/refuse.ts';
import { keepPasskeyBrowserToken } from '../passkeys/browser-token.ts';
import { beginEnrolment, standingOf } from '../passkeys/enrol.ts';
import { countAttempt } from '../storage/throttle.ts';
import { passkeyKeys } from '../storage/throttle-keys.ts';
import { knownVisitorOf } from '../visitor/visitor.ts';
import { accountVisitOf } from './account-visit.ts';
import { proofToAsk } from './proof-to-ask.ts';

/** `POST passkeys/enrol/options`: begins an enrolment for a session with a fresh proof; 401 or 409 without. */
export function enrolOptionsRoute(deps: Deps) {
  const rp = deps.config.passkeys;

  return async function enrolOptions(request: FastifyRequest, reply: FastifyReply) {
    if (!rp) return sendProblem(reply, 404);
    const visitor = await knownVisitorOf(deps, request, reply);
    if (!visitor) return reply;
    const visit = await accountVisitOf(deps, visitor);
    if (!visit) return sendProblem(reply, 401);
    const now = deps.now();
    const isProven = proofToAsk(visit, now) === null;
    if (!isProven || visit.account.isPart || (await standingOf(deps.sql, visit)) !== 'open')
      return sendProblem(reply, 409);
    const until = await countAttempt(deps.sql, passkeyKeys(visitor.address), now);
    if (until) return await refuse(deps, request, reply, 429, { retryAfter: until.getTime() - now.getTime() });
    const token = keepPasskeyBrowserToken(request, reply, deps.config);
    return reply.send(await beginEnrolment(deps, rp, visit, { browserToken: token, purpose: 'enrol' }));
  };
}
