import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps/deps.ts';
import { refuse, sendProblem } from '../http/refuse.ts';
import { beginCeremony, optionsOfSignIn } from '../passkeys/begin.ts';
import { keepPasskeyBrowserToken } from '../passkeys/browser-token.ts';
import { tokenHash } from '../secrets/token.ts';
import { countAttempt } from '../storage/throttle.ts';
import { passkeyKeys } from '../storage/throttle-keys.ts';
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
    const now = deps.now();
    const asked = proofToAsk(visit, now);
    if (asked === null || !(await mayProveByPasskey(deps, visit))) return sendProblem(reply, 409);
    const until = await countAttempt(deps.sql, passkeyKeys(visitor.address), now);
    if (until) return await refuse(deps, request, reply, 429, { retryAfter: until.getTime() - now.getTime() });
    const token = keepPasskeyBrowserToken(request, reply, deps.config);
    const challenge = await beginCeremony(deps, token, {
      purpose: 'prove',
      sessionHash: tokenHash(visit.sessionToken),
    });
    return reply.send(optionsOfSignIn(challenge, rp.id));
  };
}
