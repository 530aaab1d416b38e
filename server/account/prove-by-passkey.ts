import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuditStep } from '../audit/audit-events.ts';
import type { Deps } from '../deps.ts';
import { beginCeremony, browserToBegin, optionsOfSignIn } from '../factors/passkey-ceremony.ts';
import { refusePasskey, waitOfPasskeys } from '../factors/refuse-passkey.ts';
import { type RefusedPasskey, takePasskey } from '../factors/take-passkey.ts';
import { sendProblem } from '../http/refuse.ts';
import { knownVisitorOf } from '../sessions/visitor.ts';
import { type AccountVisit, accountVisitOf, personForChange } from './account-visit.ts';
import { noteProof } from './note-proof.ts';
import { mayProveByPasskey, proofToAsk } from './proof-to-ask.ts';
import type { Outcome } from './section.ts';

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

type Proven = { kind: 'right'; sessionToken: string } | { kind: 'signedOut' } | RefusedPasskey;

/**
 * Takes a passkey of the person for a proof: one that would sign them in from here, by the checks of a sign-in. The challenge
 * belongs to this session and browser, and is spent by the first answer.
 */
export async function proveByPasskey(deps: Deps, visit: AccountVisit, answer: string): Promise<Outcome> {
  if (!deps.config.passkeys || !(await mayProveByPasskey(deps, visit)))
    return { kind: 'refused', notice: 'notPossible' };
  const { visitor, session } = visit;
  const user = { id: session.userId, username: session.username, customers: session.customers.map((key) => ({ key })) };
  const wait = await waitOfPasskeys(deps, visitor, user, 'fresh-proof-refused');
  if (wait) return { kind: 'throttled', retryAfter: wait.retryAfter };
  const steps: AuditStep[] = [];
  const done = await prove(deps, visit, answer, steps);
  if (done.kind === 'right') return { kind: 'done', notice: 'proven', sessionToken: done.sessionToken };
  if (done.kind === 'signedOut') return done;
  const refused = { event: 'fresh-proof-refused', reason: done.reason, steps, user } as const;
  const reference = await refusePasskey(deps, visitor, refused);
  return { kind: 'refused', notice: 'passkeyProofRefused', reference };
}

/** All or nothing, but for the challenge; what could not open the account proves nothing for it. */
async function prove(deps: Deps, visit: AccountVisit, answer: string, steps: AuditStep[]): Promise<Proven> {
  const { address, passkeyToken: browserToken } = visit.visitor;
  const { id: owner, userId } = visit.session;
  return await deps.sql.begin(async (sql): Promise<Proven> => {
    if (!(await personForChange(sql, visit))) return { kind: 'signedOut' };
    const given = { purpose: 'prove', browserToken, owner, answer, address, userId } as const;
    const taken = await takePasskey(deps, sql, given, steps);
    if (taken.kind === 'refused') return taken;
    const proof = { proof: 'passkey', given: answer, steps } as const;
    return { kind: 'right', sessionToken: await noteProof(deps, sql, visit, proof, deps.now()) };
  });
}
