import { limits } from '../limits.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Connection } from '../storage/database.ts';
import { findSignedOutSession, type SignedOutSession, takeSession } from '../storage/signed-out-session.ts';

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
