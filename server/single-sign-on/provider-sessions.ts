import type { FastifyRequest } from 'fastify';
import { insertAuditEvent, insertEventOnceAMinute } from '../audit/audit-event.ts';
import type { AuditStep } from '../audit/audit-events.ts';
import { tokenHash } from '../crypto/token.ts';
import type { Connection } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { isInDomains } from '../people/sign-in-policy.ts';
import { recordKey } from '../throttle/throttle-keys.ts';
import type { SsoConnection } from './sso-connection.ts';

/** Whose sessions a provider ends: those of a subject, of sessions of its own, or both; and when it said so. */
export type ProviderLogout = { subject: string | null; sessions: string[]; issuedAt: Date };

/** Ends what a verified logout names, for each of the connections that share its provider, and records one event a person. */
export async function endSessionsByProvider(
  { sql, now }: Deps,
  { id: requestId, address }: FastifyRequest,
  logout: ProviderLogout,
  connections: readonly SsoConnection[],
): Promise<void> {
  for (const { id: connectionId, key: connection } of connections)
    await sql.begin(async (sql) => {
      const ended = await deleteSessionsOfProvider(sql, connectionId, logout);
      for (const [userId, username] of new Map(ended.map((one) => [one.userId, one.username]))) {
        const outcome = `${ended.filter((one) => one.userId === userId).length} ended`;
        const more = { connection, address, requestId, steps: [{ step: 'sessions', outcome }] };
        await insertAuditEvent(sql, { event: 'signed-out-by-provider', userId, username, ...more }, now());
      }
    });
}

/** Records a refused logout that claims to be a provider's, once a minute per address. */
export async function recordLogoutRefusal(
  { sql, now }: Deps,
  { id: requestId, address }: FastifyRequest,
  step: AuditStep,
  connection?: string,
): Promise<void> {
  await insertEventOnceAMinute(
    sql,
    { event: 'provider-logout-refused', requestId, address, steps: [step], ...(connection && { connection }) },
    recordKey(step.step, address),
    now(),
  );
}

/**
 * Ends every session of a connection, or only those of users in some domains, those that wait for a second factor too;
 * returns how many. Lock the connection first, so that no sign-in adds one.
 */
export async function deleteSessionsOfConnection(
  sql: Connection,
  connectionId: string,
  domains: readonly string[] | null = null,
): Promise<number> {
  await lockUsersOfConnection(sql, connectionId);
  const isMeant = domains ? isInDomains(sql, sql`session.user_id`, domains) : sql`true`;
  return (await sql`delete from session where connection_id = ${connectionId} and ${isMeant}`).count;
}

/**
 * Ends a connection's sessions of a subject: all of them if no session of the provider is named, otherwise those of a named
 * one and those whose name is unknown. Without a subject, those of a named one. Only what was made by the second in which
 * the logout was issued (OpenID tokens have only seconds), so that one shown again ends nothing new. Returns the user of each.
 */
async function deleteSessionsOfProvider(
  sql: Connection,
  connectionId: string,
  { subject, sessions, issuedAt }: ProviderLogout,
): Promise<{ userId: string; username: string }[]> {
  const subjectHash = subject === null ? null : tokenHash(subject);
  const sessionHashes = sessions.map(tokenHash);
  await lockUsersOfConnection(sql, connectionId, subjectHash);
  const isMeant = subjectHash
    ? sql`s.provider_subject_hash = ${subjectHash}
        and (${sessionHashes.length === 0} or s.provider_session_hash is null or s.provider_session_hash = any(${sessionHashes}::bytea[]))`
    : sql`s.provider_session_hash = any(${sessionHashes}::bytea[])`;
  return await sql<{ userId: string; username: string }[]>`
    delete from session s using portal_user u
    where u.id = s.user_id and s.connection_id = ${connectionId} and ${isMeant}
      and date_trunc('second', s.created_at) <= ${issuedAt}
    returning u.id as "userId", u.username`;
}

/** Locks the users, as every change of their sessions does first, in one order. */
async function lockUsersOfConnection(
  sql: Connection,
  connectionId: string,
  subjectHash: Buffer | null = null,
): Promise<void> {
  await sql`
    select from portal_user u where u.id in (
      select s.user_id from session s
      where s.connection_id = ${connectionId} and (${subjectHash}::bytea is null or s.provider_subject_hash = ${subjectHash})
    ) order by u.id for no key update of u`;
}
