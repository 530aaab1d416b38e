import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps/deps.ts';
import { clearCookie, listCookies } from '../http/cookies.ts';
import { clearWaitingLink, endTurn, turnsOf } from '../http/turns.ts';
import { endVisits } from '../http/visit-cookies.ts';
import { limits } from '../limits.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Connection } from '../storage/database.ts';
import { findSignedOutSession, type SignedOutSession, takeSession } from '../storage/signed-out-session.ts';
import { askAfresh } from '../visitor/ask-afresh.ts';

/**
 * Ends the session of a token, or of what the browser had before (visitor/turn-hash.ts), and records it. Returns it, also
 * if the same browser ended it a moment ago; null if there was none. `markHashes`: of the browser, unless its turn goes on.
 */
export async function endSession(
  sql: Connection,
  hash: Buffer,
  by: { markHashes: readonly Buffer[]; now: Date; address: string | null; requestId: string },
): Promise<SignedOutSession | null> {
  const { markHashes, now, address, requestId } = by;
  const keptUntil = new Date(now.getTime() + limits.signOutKept);
  const ended = await takeSession(sql, hash, { markHashes, now, keptUntil });
  if (!ended) return await findSignedOutSession(sql, hash, now);
  const { userId, username } = ended;
  await insertAuditEvent(sql, { event: 'signed-out', userId, username, ...(address && { address }), requestId }, now);
  return ended;
}

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
 * Removes an ended session from its browser. If its user leaves, everything that waits in the browser is removed too;
 * after an abandoned second factor, what the tab has saved stays.
 */
export function leaveSession(deps: Deps, request: FastifyRequest, reply: FastifyReply, isTurnOver: boolean): void {
  const { config } = deps;
  clearCookie(reply, config, 'session');
  if (isTurnOver) {
    askAfresh(reply, config, endTurn(request, reply, config));
    endVisits(request, reply, config);
  } else {
    askAfresh(reply, config, turnsOf(request, config)?.signedOut ?? null);
    clearWaitingLink(request, reply, config);
  }
}
