import { insertAuditEvent } from '../audit/audit-event.ts';
import { type By, customersOfEvent } from '../audit/audit-events.ts';
import type { Connection, Database } from '../database/database.ts';
import { listRememberedDevices } from '../factors/devices.ts';
import { foldLoginName } from '../names/read-name.ts';
import { updateGroupsAt } from '../people/groups.ts';
import { findUserForUpdate, updateNameOfOnly } from '../people/portal-user.ts';
import { isInDomains } from '../people/sign-in-policy.ts';
import { findSsoConnectionByKeyForUpdate } from './sso-connection.ts';

type UnlinkResult =
  /** What the user, or the linked person, may have set up; which of the two cannot be determined. */
  | { kind: 'unlinked'; sessionsEnded: number; hasApp: boolean; rememberedDevices: number }
  | { kind: 'notLinked' }
  | { kind: 'noConnection' }
  | { kind: 'noUser' };

/**
 * Makes a connection forget a user's subject: the next one with their address is linked. The linked person may be a
 * stranger, so everything they opened through the connection ends, and so do its visits, which would link them again.
 */
export async function unlinkUser(sql: Database, key: string, name: string, by: By): Promise<UnlinkResult> {
  return await sql.begin(async (sql): Promise<UnlinkResult> => {
    const connection = await findSsoConnectionByKeyForUpdate(sql, key);
    if (!connection) return { kind: 'noConnection' };
    const user = await findUserForUpdate(sql, foldLoginName(name));
    if (!user) return { kind: 'noUser' };
    const { id: userId, username, hasApp } = user;
    const ofUser = sql`user_id = ${userId} and connection_id = ${connection.id}`;
    const unlinked = await sql`delete from sso_subject where ${ofUser}`;
    if (unlinked.count === 0) return { kind: 'notLinked' };
    const { count: sessionsEnded } = await sql`delete from session where ${ofUser}`;
    // What hubs were told of a stranger is not this user's.
    const { attributes, customerId } = connection;
    if (attributes.groups !== undefined) await updateGroupsAt(sql, { userId, customerId }, []);
    if (attributes.name !== undefined) await updateNameOfOnly(sql, userId, customerId, null);
    // Visits that have begun end: their answers would link again.
    await sql`update sso_connection set version = version + 1 where id = ${connection.id}`;
    const rememberedDevices = (await listRememberedDevices(sql, userId, by.now)).length;
    const steps = [{ step: 'sessions ended', outcome: String(sessionsEnded) }];
    const whose = { connection: key, userId, username, ...customersOfEvent(user.customers) };
    await insertAuditEvent(sql, { event: 'connection-unlinked', ...whose, steps, actor: by.actor }, by.now);
    return { kind: 'unlinked', sessionsEnded, hasApp, rememberedDevices };
  });
}

/** Unlinks all subjects of a connection, or only those of users in some domains; returns how many. */
export async function deleteSsoSubjectsOfConnection(
  sql: Connection,
  connectionId: string,
  domains: readonly string[] | null,
): Promise<number> {
  const isMeant = domains ? isInDomains(sql, sql`sso_subject.user_id`, domains) : sql`true`;
  return (await sql`delete from sso_subject where connection_id = ${connectionId} and ${isMeant}`).count;
}
