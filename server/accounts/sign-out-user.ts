import { foldLoginName } from '../names/fold-name.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Database } from '../storage/database.ts';
import { signOutSessionOfUser, signOutSessionsOfUser } from '../storage/end-sessions.ts';
import { findUserForUpdate } from '../storage/portal-user.ts';

/**
 * Ends every session of a user, half ones included, as a sign-out in each of their browsers, or only the one with `sid`, and
 * records it. Returns how many; null if the user is unknown.
 */
export async function signOutUser(
  sql: Database,
  name: string,
  now: Date,
  sid: string | null = null,
): Promise<number | null> {
  return await sql.begin(async (sql) => {
    const user = await findUserForUpdate(sql, foldLoginName(name));
    if (!user) return null;
    const { id: userId } = user;
    const ended =
      sid === null
        ? await signOutSessionsOfUser(sql, userId, now)
        : await signOutSessionOfUser(sql, { userId, sid }, now);
    if (sid !== null && ended === 0) return 0;
    const steps = [
      ...(sid === null ? [] : [{ step: 'session', outcome: sid }]),
      { step: 'sessions ended', outcome: String(ended) },
    ];
    const event = { event: 'user-signed-out', userId, username: user.username, steps } as const;
    await insertAuditEvent(sql, event, now);
    return ended;
  });
}
