import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Turns } from '#contract/page.ts';
import type { Deps } from '../deps/deps.ts';
import { clearCookie } from '../http/cookies.ts';
import { endTurn, turnsOf } from '../http/turns.ts';
import { endVisits } from '../http/visit-cookies.ts';
import type { Who } from '../visitor/who.ts';

/**
 * Treats a session that a provider's logout ended as a sign-out in this browser (SE-15): returns its marks, for the
 * next page too. Null if it isn't one. Clears the session cookie, so that this happens once.
 */
export function turnOfEndedSession(
  { config }: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  who: Who,
): Turns | null {
  if (who.kind !== 'ended' || !who.isByProvider) return null;
  clearCookie(reply, config, 'session');
  endVisits(request, reply, config);
  const signedOut = endTurn(request, reply, config);
  return { signedIn: turnsOf(request, config)?.signedIn ?? null, signedOut };
}
