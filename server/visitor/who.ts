import type { Deps } from '../deps/deps.ts';
import { second } from '../limits.ts';
import { updateSessionSeen } from '../storage/session.ts';
import { findVisitorSession, type VisitorSession } from '../storage/visitor-session.ts';

/** A session's last use is written at most this often, so that its idle time still ends to the second. */
const sessionTouchEvery = second;

/** Who a visitor is: what their session token stands for. */
export type Who = VisitorSession;

/**
 * What a session token stands for, for a client at an address; marks a full session as used. The customers'
 * networks are checked again every time; if none admits the address the session counts as ended (decisions §7).
 */
export async function whoHas(deps: Deps, sessionHash: Buffer, address: string): Promise<VisitorSession> {
  const now = deps.now();
  const idleSince = new Date(now.getTime() - deps.config.sessionIdle);
  const found = await findVisitorSession(deps.sql.pipelined, sessionHash, { address, idleSince, now });
  if (found.kind === 'full' && now.getTime() - found.session.lastSeenAt.getTime() >= sessionTouchEvery)
    await updateSessionSeen(deps.sql, sessionHash, now);
  return found;
}
