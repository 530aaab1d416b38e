import type { Turns } from '#contract/page.ts';
import type { Deps } from '../deps/deps.ts';
import { second } from '../limits.ts';
import { tokenHash } from '../secrets/token.ts';
import { isEndedTurn } from '../storage/ended-session.ts';
import { updateSessionSeen } from '../storage/session.ts';
import { findVisitorSession, type VisitorSession } from '../storage/visitor-session.ts';
import { markHashes } from './mark-hashes.ts';

/** A session's last use is written at most this often, so that its idle time still ends to the second. */
export const sessionTouchEvery = second;

/** Who a visitor is: what their session token stands for. Without one they are nobody, or have just left (`whoLeft`). */
export type Who = { kind: 'nobody' } | VisitorSession;

/** The user who is signed in, half or fully; null if nobody is. */
export function personOf(who: Who): { userId: string; username: string; email: string } | null {
  return who.kind === 'full' ? who.session : who.kind === 'half' ? who.half : null;
}

/** Whether they were signed out elsewhere: by their provider, an operator, or a sign-out whose response was lost. */
export function isSignedOut(who: Who): boolean {
  return who.kind === 'ended' && who.isSignOut;
}

/**
 * What a session token stands for, for a client at an address; marks a full session as used, if the request `isUse`. The
 * customers' networks are checked again every time; if none admits the address the session counts as ended (decisions §7).
 */
export async function whoHas(deps: Deps, token: string, address: string, isUse = true): Promise<VisitorSession> {
  const now = deps.now();
  const hash = tokenHash(token);
  const idleSince = new Date(now.getTime() - deps.config.sessionIdle);
  const found = await findVisitorSession(deps.sql, hash, { address, idleSince, now });
  if (isUse && found.kind === 'full' && now.getTime() - found.session.lastSeenAt.getTime() >= sessionTouchEvery)
    await updateSessionSeen(deps.sql, hash, now);
  return found;
}

/**
 * Who a visitor without a session token is, by the marks of the browser's turns: nobody, unless the browser was closed
 * before it read the response to a sign-out.
 */
export async function whoLeft({ sql, now }: Deps, turns: Turns | undefined): Promise<Who> {
  const [hash] = markHashes(turns);
  const isSignOut = hash !== undefined && (await isEndedTurn(sql, hash, now()));
  return isSignOut ? { kind: 'ended', username: null, isSignOut } : { kind: 'nobody' };
}
