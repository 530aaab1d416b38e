import type { Deps } from '../deps.ts';
import { limits } from '../limits.ts';
import { tokenHash } from '../secrets/token.ts';
import { findSession, type SessionRow, updateSessionSeen } from '../storage/session.ts';

/**
 * Who is behind a session token, asked from an address: the session with its user, or null. The networks of the
 * customers are checked again every time; a session that none of them admits from here opens nothing (decisions §7).
 */
export async function sessionOfToken(deps: Deps, token: string, address: string): Promise<SessionRow | null> {
  const now = deps.now();
  const hash = tokenHash(token);
  const idleSince = new Date(now.getTime() - deps.config.sessionIdle);
  const session = await findSession(deps.sql, hash, { address, idleSince, now });
  if (!session || session.customers.length === 0) return null;
  if (now.getTime() - session.lastSeenAt.getTime() >= limits.sessionTouchEvery) {
    await updateSessionSeen(deps.sql, hash, now);
  }
  return session;
}
