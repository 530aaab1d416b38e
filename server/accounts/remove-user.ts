import { foldLoginName } from '../names/fold-name.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Database } from '../storage/database.ts';
import { deleteUser, findUserForUpdate } from '../storage/portal-user.ts';

/** Removes the user with a username or email, with sessions and memberships, and records it; false if unknown. */
export async function removeUser(sql: Database, name: string, now: Date): Promise<boolean> {
  return await sql.begin(async (sql) => {
    const user = await findUserForUpdate(sql, foldLoginName(name));
    if (!user) return false;
    await deleteUser(sql, user.id);
    await insertAuditEvent(sql, { event: 'user-removed', userId: user.id, username: user.username }, now);
    return true;
  });
}
