import { foldLoginName } from '../accounts/fold-name.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Database } from '../storage/connect.ts';
import { findUser } from '../storage/portal-user.ts';
import { deleteSsoConnection, findSsoConnectionByKeyForUpdate } from '../storage/sso-connection.ts';
import { deleteSsoSubject } from '../storage/sso-subject.ts';

/** Removes a connection and records it; its users stay, the sessions that came by it too. False when there is none. */
export async function removeConnection(sql: Database, key: string, now: Date): Promise<boolean> {
  return await sql.begin(async (sql) => {
    const connection = await findSsoConnectionByKeyForUpdate(sql, key);
    if (!connection) return false;
    await deleteSsoConnection(sql, connection.id);
    const { customerKey } = connection;
    await insertAuditEvent(sql, { event: 'connection-removed', connection: key, customerKey }, now);
    return true;
  });
}

export type UnlinkResult = 'unlinked' | 'notLinked' | 'noConnection' | 'noUser';

/** Makes a connection forget by which subject a user signs in: the next one with his address is linked anew. */
export async function unlinkUser(sql: Database, key: string, name: string, now: Date): Promise<UnlinkResult> {
  return await sql.begin(async (sql): Promise<UnlinkResult> => {
    const connection = await findSsoConnectionByKeyForUpdate(sql, key);
    if (!connection) return 'noConnection';
    const user = await findUser(sql, foldLoginName(name));
    if (!user) return 'noUser';
    if (!(await deleteSsoSubject(sql, connection.id, user.id))) return 'notLinked';
    const { id: userId, username } = user;
    await insertAuditEvent(sql, { event: 'connection-unlinked', connection: key, userId, username }, now);
    return 'unlinked';
  });
}
