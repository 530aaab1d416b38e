import { foldLoginName } from '../names/fold-name.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Database } from '../storage/database.ts';
import { findUserForUpdate } from '../storage/portal-user.ts';
import { signOutSessionsOfUser } from '../storage/session.ts';

/**
 * Ends every session of a user, half ones included, as a sign-out in each of their browsers, and records it. Returns how
 * many; null if the user is unknown.
 */
export async function signOutUser(sql: Database, name: string, now: Date): Promise<number | null> {
  return await sql.begin(async (sql) => {
    const user = await findUserForUpdate(sql, foldLoginName(name));
    if (!user) return null;
    const ended = await signOutSessionsOfUser(sql, user.id, now);
    const steps = [{ step: 'sessions ended', outcome: String(ended) }];
    const event = { event: 'user-signed-out', userId: user.id, username: user.username, steps } as const;
    await insertAuditEvent(sql, event, now);
    return ended;
  });
}
