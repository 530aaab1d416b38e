import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps/deps.ts';
import { clearCookie } from '../http/cookies.ts';
import { clearLastRefusal } from '../http/last-refusal.ts';
import { endTurn } from '../http/turns.ts';
import { endVisits } from '../http/visit-cookies.ts';
import { askAfresh } from '../visitor/ask-afresh.ts';
import { isSignedOut, type Who } from '../visitor/who.ts';

/**
 * Treats a session that was signed out elsewhere as a sign-out in this browser (SE-15): by a provider's logout, by an
 * operator, or by a sign-out whose response was lost. Returns the browser's mark of it; null if it isn't one. Clears the
 * session cookie, so that this happens once. Whatever begins or ends a sign-in calls this before it reads anything that
 * waits in the browser: there may be no page in between.
 */
export function turnOfEndedSession(deps: Deps, request: FastifyRequest, reply: FastifyReply, who: Who): string | null {
  return isSignedOut(who) ? endTurnHere(deps, request, reply) : null;
}

/** Discards everything of whoever was at this browser; returns the browser's mark of it. */
export function endTurnHere({ config }: Deps, request: FastifyRequest, reply: FastifyReply): string {
  clearCookie(reply, config, 'session');
  clearLastRefusal(request, reply, config);
  endVisits(request, reply, config);
  const signedOut = endTurn(request, reply, config);
  askAfresh(reply, config);
  return signedOut;
}
