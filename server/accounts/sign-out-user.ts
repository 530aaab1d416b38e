import { foldLoginName } from '../names/fold-name.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Database } from '../storage/database.ts';
import { findUserForUpdate } from '../storage/portal-user.ts';
import { endSessionsOfUser } from '../storage/session-list.ts';

/**
 * Ends every session of a user, half ones included, or only the one with an id, and records it. Returns how many; null if the
 * user is unknown.
 */
export async function signOutUser(
  sql: Database,
  name: string,
  now: Date,
  id: string | null = null,
): Promise<number | null> {
  return await sql.begin(async (sql) => {
    const user = await findUserForUpdate(sql, foldLoginName(name));
    if (!user) return null;
    const ended = await endSessionsOfUser(sql, user.id, { id });
    if (id !== null && ended === 0) return 0;
    const steps = [
      ...(id === null ? [] : [{ step: 'session', outcome: id }]),
      { step: 'sessions ended', outcome: String(ended) },
    ];
    const event = { event: 'user-signed-out', userId: user.id, username: user.username, steps } as const;
    await insertAuditEvent(sql, event, now);
    return ended;
  });
}
