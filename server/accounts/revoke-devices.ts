import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Database } from '../storage/database.ts';
import type { User } from '../storage/portal-user.ts';
import { deleteRememberedDevices } from '../storage/remembered-device.ts';

/**
 * Revokes remembered devices of a user, or only the one with an id: they need a code again. Returns how many there
 * were; without any, nothing is recorded.
 */
export async function revokeDevices(
  sql: Database,
  { id: userId, username }: User,
  id: string | undefined,
  now: Date,
): Promise<number> {
  return await sql.begin(async (sql) => {
    const revoked = await deleteRememberedDevices(sql, userId, id);
    const steps = [{ step: 'devices forgotten', outcome: String(revoked) }];
    if (revoked > 0) await insertAuditEvent(sql, { event: 'device-forgotten', userId, username, steps }, now);
    return revoked;
  });
}
