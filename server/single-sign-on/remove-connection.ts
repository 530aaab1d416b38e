import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Database } from '../storage/database.ts';
import { deleteSessionsOfConnection } from '../storage/provider-sessions.ts';
import { deleteSsoConnection, findSsoConnectionByKeyForUpdate } from '../storage/sso-connection.ts';
import { type NotAgreed, withAgreement } from '../storage/what-follows.ts';

export type RemoveConnectionResult = { kind: 'removed'; sessionsEnded: number } | { kind: 'notFound' } | NotAgreed;

/** Removes a connection with its sessions and records it; its users stay. If its domain requires it, this needs `isAgreed`. */
export async function removeConnection(
  sql: Database,
  key: string,
  now: Date,
  isAgreed = false,
): Promise<RemoveConnectionResult> {
  return await withAgreement(sql, { toAll: isAgreed }, async (sql): Promise<RemoveConnectionResult> => {
    const connection = await findSsoConnectionByKeyForUpdate(sql, key);
    if (!connection) return { kind: 'notFound' };
    const sessionsEnded = await deleteSessionsOfConnection(sql, connection.id);
    await deleteSsoConnection(sql, connection.id);
    const { customerKey } = connection;
    const steps = [{ step: 'sessions ended', outcome: String(sessionsEnded) }];
    await insertAuditEvent(sql, { event: 'connection-removed', connection: key, customerKey, steps }, now);
    return { kind: 'removed', sessionsEnded };
  });
}
