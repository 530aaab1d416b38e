import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Turns } from '#contract/page.ts';
import type { Deps } from '../deps.ts';
import { clearCookie, readTokenCookie } from '../http/cookies.ts';
import { endTurn, turnsOf } from '../http/turns.ts';
import { endVisits } from '../http/visit-cookies.ts';
import { tokenHash } from '../secrets/token.ts';
import { isSessionEndedByProvider } from '../storage/ended-session.ts';

/**
 * Treats a session that a provider's logout ended as a sign-out in this browser (SE-15): returns its marks, for the
 * next page too. Null if it isn't one. Clears the session cookie, so that this happens once.
 */
export async function turnOfEndedSession(
  { config, sql, now }: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Turns | null> {
  const token = readTokenCookie(request.headers, config, 'session');
  if (!token || !(await isSessionEndedByProvider(sql, tokenHash(token), now()))) return null;
  clearCookie(reply, config, 'session');
  endVisits(request, reply, config);
  const signedOut = endTurn(request, reply, config);
  return { signedIn: turnsOf(request, config)?.signedIn ?? null, signedOut };
}
