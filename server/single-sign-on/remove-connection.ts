import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Database } from '../storage/connect.ts';
import { deleteSsoConnection, findSsoConnectionByKeyForUpdate } from '../storage/sso-connection.ts';

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
