import type { FastifyReply, FastifyRequest } from 'fastify';
import { accountFields } from '#contract/account.ts';
import type { Deps } from '../deps/deps.ts';
import { sendProblem } from '../http/refuse.ts';
import { beginCeremony, browserToBegin, optionsOfSignIn } from '../passkeys/ceremony.ts';
import { knownVisitorOf } from '../visitor/visitor.ts';
import { accountVisitOf, isFormOf } from './account-visit.ts';
import { beginEnrolment, standingOf } from './enrol-passkey.ts';
import { mayProveByPasskey, proofToAsk } from './proof-to-ask.ts';
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
    const fields = (request.body ?? {}) as Fields;
    if (fields[accountFields.sessionId] !== undefined && !isFormOf(visit, fields)) return sendProblem(reply, 409);
    const isProven = proofToAsk(visit, deps.now()) === null;
    if (!isProven || visit.account.isPart || (await standingOf(deps, deps.sql, visit)) !== 'open')
      return sendProblem(reply, 409);
    const browserToken = await browserToBegin(deps, request, reply, visitor);
    if (browserToken === null) return reply;
    return reply.send(await beginEnrolment(deps, rp, visit, browserToken));
  };
}

/**
 * `POST passkeys/prove/options`: begins a proof by passkey for a session that is asked for one; 401 or 409 otherwise. It names no
 * passkey.
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
    const challenge = await beginCeremony(deps, { purpose: 'prove', browserToken, owner: visit.session.id });
    return reply.send(optionsOfSignIn(challenge, rp.id));
  };
}
