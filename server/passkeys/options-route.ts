import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps/deps.ts';
import { sendProblem } from '../http/refuse.ts';
import { knownVisitorOf } from '../visitor/visitor.ts';
import { beginCeremony, optionsOfSignIn } from './begin.ts';
import { browserToBegin } from './browser-to-begin.ts';

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
    const browserToken = await browserToBegin(deps, request, reply, visitor);
    if (browserToken === null) return reply;
    const challenge = await beginCeremony(deps, browserToken, { purpose, sessionId: null });
    return reply.send(optionsOfSignIn(challenge, rp.id));
  };
}
