import { insertAuditEvent } from '../audit/audit-event.ts';
import type { Database } from '../database/database.ts';
import { listRememberedDevices } from '../factors/devices.ts';
import { foldLoginName } from '../names/read-name.ts';
import { findUserForUpdate } from '../people/portal-user.ts';
import { deleteSessionsOfUserBy } from './provider-sessions.ts';
import { findSsoConnectionByKeyForUpdate, raiseVersion } from './sso-connection.ts';
import { deleteSsoSubject } from './sso-subject.ts';

export type UnlinkResult =
  /** What the user, or the linked person, may have set up; which of the two cannot be determined. */
  | { kind: 'unlinked'; sessionsEnded: number; hasApp: boolean; rememberedDevices: number }
  | { kind: 'notLinked' }
  | { kind: 'noConnection' }
  | { kind: 'noUser' };

/**
 * Makes a connection forget a user's subject: the next one with their address is linked. The linked person may be a
 * stranger, so everything they opened through the connection ends, and so do its visits, which would link them again.
 */
export async function unlinkUser(sql: Database, key: string, name: string, now: Date): Promise<UnlinkResult> {
  return await sql.begin(async (sql): Promise<UnlinkResult> => {
    const connection = await findSsoConnectionByKeyForUpdate(sql, key);
    if (!connection) return { kind: 'noConnection' };
    const user = await findUserForUpdate(sql, foldLoginName(name));
    if (!user) return { kind: 'noUser' };
    if (!(await deleteSsoSubject(sql, connection.id, user.id))) return { kind: 'notLinked' };
    const { id: userId, username, hasApp } = user;
    const sessionsEnded = await deleteSessionsOfUserBy(sql, userId, connection.id);
    await raiseVersion(sql, connection.id);
    const rememberedDevices = (await listRememberedDevices(sql, userId, now)).length;
    const steps = [{ step: 'sessions ended', outcome: String(sessionsEnded) }];
    await insertAuditEvent(sql, { event: 'connection-unlinked', connection: key, userId, username, steps }, now);
    return { kind: 'unlinked', sessionsEnded, hasApp, rememberedDevices };
  });
}
