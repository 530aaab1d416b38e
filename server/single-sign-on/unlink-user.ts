import { foldLoginName } from '../accounts/fold-name.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Database } from '../storage/connect.ts';
import { findUser } from '../storage/portal-user.ts';
import { findSsoConnectionByKeyForUpdate } from '../storage/sso-connection.ts';
import { deleteSsoSubject } from '../storage/sso-subject.ts';

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
