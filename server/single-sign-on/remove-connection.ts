import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Database } from '../storage/database.ts';
import { deleteSsoConnection, findSsoConnectionByKeyForUpdate } from '../storage/sso-connection.ts';
import { type NotAgreed, withAgreement } from './what-follows.ts';

export type RemoveConnectionResult = { kind: 'removed' } | { kind: 'notFound' } | NotAgreed;

/**
 * Removes a connection and records it; its users and their sessions stay. If its domain requires it, this needs
 * `isAgreed`.
 */
export async function removeConnection(
  sql: Database,
  key: string,
  now: Date,
  isAgreed = false,
): Promise<RemoveConnectionResult> {
  return await withAgreement(sql, { toAll: isAgreed }, async (sql): Promise<RemoveConnectionResult> => {
    const connection = await findSsoConnectionByKeyForUpdate(sql, key);
    if (!connection) return { kind: 'notFound' };
    await deleteSsoConnection(sql, connection.id);
    const { customerKey } = connection;
    await insertAuditEvent(sql, { event: 'connection-removed', connection: key, customerKey }, now);
    return { kind: 'removed' };
  });
}
