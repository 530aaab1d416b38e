import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps/deps.ts';
import { refuse, sendProblem } from '../http/refuse.ts';
import { countAttempt } from '../storage/throttle.ts';
import { passkeyKeys } from '../storage/throttle-keys.ts';
import { knownVisitorOf } from '../visitor/visitor.ts';
import { beginCeremony, optionsOfSignIn } from './begin.ts';
import { keepPasskeyBrowserToken } from './browser-token.ts';

/**
 * `POST passkeys/options` and `POST passkeys/second-factor/options`: begins a sign-in. The answer is the same for
 * everybody but for its challenge, so nobody learns who has passkeys.
 */
export function passkeyOptionsRoute(deps: Deps, purpose: 'sign-in' | 'second-factor') {
  const rp = deps.config.passkeys;

  return async function passkeyOptions(request: FastifyRequest, reply: FastifyReply) {
    if (!rp) return sendProblem(reply, 404);
    const visitor = await knownVisitorOf(deps, request, reply);
    if (!visitor) return reply;
    const until = await countAttempt(deps.sql, passkeyKeys(visitor.address), deps.now());
    if (until) {
      deps.metrics.throttled.inc({ kind: 'passkey' });
      return await refuse(deps, request, reply, 429, { retryAfter: until.getTime() - deps.now().getTime() });
    }
    const token = keepPasskeyBrowserToken(request, reply, deps.config);
    const challenge = await beginCeremony(deps, token, { purpose, sessionHash: null });
    return reply.send(optionsOfSignIn(challenge, rp.id));
  };
}
