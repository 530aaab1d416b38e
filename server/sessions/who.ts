import type { Database } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { second } from '../limits.ts';
import { type FullSession, updateSessionSeen } from './session.ts';
import { type AskedSession, findFullSessions, findHalfOrEndedSession, type VisitorSession } from './visitor-session.ts';

/** A session's last use is written at most this often, so that its idle time still ends to the second. */
const sessionTouchEvery = second;

/** Who a visitor is: what their session token stands for. */
export type Who = VisitorSession;

/**
 * What a session token stands for, for a client at an address; marks a full session as used. The customers'
 * networks are checked again every time; if none admits the address the session counts as ended (decisions §7).
 */
export async function whoHas(deps: Deps, tokenHash: Buffer, address: string): Promise<VisitorSession> {
  const now = deps.now();
  const session = await fullSessionOf(deps, { tokenHash, address });
  if (session === null) return await findHalfOrEndedSession(deps.sql, { tokenHash, address }, now);
  if (now.getTime() - session.lastSeenAt.getTime() >= sessionTouchEvery)
    await updateSessionSeen(deps.sql, tokenHash, now);
  return { kind: 'full', session };
}

type CheckDeps = Pick<Deps, 'sql' | 'config' | 'now'>;
type Check = { asked: AskedSession; done: (session: FullSession | null) => void; failed: (error: unknown) => void };

/** Those asked for in this turn of the event loop. */
const checks = new WeakMap<Database, Check[]>();

/** The session check, which counts as no use. Those of one turn of the event loop are one statement. */
export function fullSessionOf(deps: CheckDeps, asked: AskedSession): Promise<FullSession | null> {
  return new Promise((done, failed) => {
    const waiting = checks.get(deps.sql);
    if (waiting) return void waiting.push({ asked, done, failed });
    checks.set(deps.sql, [{ asked, done, failed }]);
    setImmediate(checkAll, deps);
  });
}

async function checkAll({ sql, config, now }: CheckDeps): Promise<void> {
  const all = checks.get(sql) ?? [];
  checks.delete(sql);
  const at = now();
  const idleSince = new Date(at.getTime() - config.sessionIdle);
  try {
    const asked = all.map((check) => check.asked);
    const sessions = await findFullSessions(sql, asked, { idleSince, now: at });
    for (const [index, { done }] of all.entries()) done(sessions[index] ?? null);
  } catch (error) {
    for (const { failed } of all) failed(error);
  }
}
