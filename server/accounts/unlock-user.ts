import { foldLoginName } from '../names/fold-name.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Database } from '../storage/database.ts';
import { findUserForUpdate } from '../storage/portal-user.ts';
import { deleteThrottleOfEveryWay, deleteThrottlesOfUser } from '../storage/throttle.ts';
import { codeKey, codeMailKey } from '../storage/throttle-keys.ts';

/** Ends the waits that failed sign-ins caused for a user's account, and records it; false if the user is unknown. */
export async function unlockUser(sql: Database, name: string, now: Date): Promise<boolean> {
  return await sql.begin(async (sql) => {
    const user = await findUserForUpdate(sql, foldLoginName(name));
    if (!user) return false;
    await deleteThrottlesOfUser(sql, user.id);
    await deleteThrottleOfEveryWay(sql, codeKey, user.id);
    await deleteThrottleOfEveryWay(sql, codeMailKey, user.id);
    await insertAuditEvent(sql, { event: 'user-unlocked', userId: user.id, username: user.username }, now);
    return true;
  });
}
