import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps/deps.ts';
import { clearCookie, listCookies } from '../http/cookies.ts';
import { beginTurn, endTurn, turnsOf } from '../http/turns.ts';
import { endVisits } from '../http/visit-cookies.ts';
import type { SignedOutSession } from '../storage/signed-out-session.ts';
import { askAfresh } from '../visitor/ask-afresh.ts';

/** Whether the browser sent a session cookie, even one that opens nothing. */
export function carriesSession({ config }: Deps, { headers }: FastifyRequest): boolean {
  return listCookies(headers, config, 'session').includes('session');
}

/**
 * Whether the ended session was a full one. Once its row is gone, a half session cannot be distinguished from a full
 * one, except that nobody has signed in in a browser without the mark of a sign-in.
 */
export function wasSignedIn(deps: Deps, request: FastifyRequest, ended: SignedOutSession | null): boolean {
  if (ended) return ended.stage === 'full';
  return carriesSession(deps, request) && (turnsOf(request, deps.config)?.signedIn ?? null) !== null;
}

/**
 * Removes an ended session from its browser, and ends its visits: their answers would be those of whoever has gone. If its user
 * leaves, everything that waits in the browser is removed too; after an abandoned second factor, where the tab was to lead stays.
 * No sign-in form of before signs anybody in any more: one whose password is right may wait in the history.
 */
export async function leaveSession(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  isTurnOver: boolean,
): Promise<void> {
  const { config } = deps;
  clearCookie(reply, config, 'session');
  endVisits(request, reply, config);
  askAfresh(reply, config);
  if (isTurnOver) endTurn(request, reply, config);
  else beginTurn(request, reply, config);
}
