import type { FastifyReply, FastifyRequest } from 'fastify';
import { accountFields } from '#contract/account.ts';
import type { Deps } from '../deps/deps.ts';
import { sendProblem } from '../http/refuse.ts';
import { browserToBegin } from '../passkeys/browser-to-begin.ts';
import { beginEnrolment, standingOf } from '../passkeys/enrol.ts';
import { knownVisitorOf } from '../visitor/visitor.ts';
import { accountVisitOf } from './account-visit.ts';
import { ownerOfForm } from './form-mark.ts';
import { proofToAsk } from './proof-to-ask.ts';
import type { Fields } from './section.ts';

/**
 * `POST passkeys/enrol/options`: begins an enrolment for a session with a fresh proof; 401 or 409 without. 409 also for the page
 * of another session: the authenticator would keep a passkey that the page's form is then refused.
 */
export function enrolOptionsRoute(deps: Deps) {
  const rp = deps.config.passkeys;

  return async function enrolOptions(request: FastifyRequest, reply: FastifyReply) {
    if (!rp) return sendProblem(reply, 404);
    const visitor = await knownVisitorOf(deps, request, reply);
    if (!visitor) return reply;
    const visit = await accountVisitOf(deps, visitor);
    if (!visit) return sendProblem(reply, 401);
    const mark = (request.body as Fields | undefined)?.[accountFields.form];
    if (mark !== undefined && ownerOfForm(deps, visit.session, mark) !== 'session') return sendProblem(reply, 409);
    const isProven = proofToAsk(visit, deps.now()) === null;
    if (!isProven || visit.account.isPart || (await standingOf(deps.sql, visit)) !== 'open')
      return sendProblem(reply, 409);
    const browserToken = await browserToBegin(deps, request, reply, visitor);
    if (browserToken === null) return reply;
    return reply.send(await beginEnrolment(deps, rp, visit, browserToken));
  };
}
