import type { Connection } from './database.ts';
import { lockSessions, signOutSessions } from './end-sessions.ts';
import { type Fragment, isInDomains } from './sso-domain.ts';

/** Ends every session of a user from a connection; returns how many. */
export async function deleteSessionsOfUserBy(sql: Connection, userId: string, connectionId: string): Promise<number> {
  await lockSessions(sql, sql`s.user_id = ${userId} and s.connection_id = ${connectionId}`);
  return (await sql`delete from session where user_id = ${userId} and connection_id = ${connectionId}`).count;
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
  await lockUsersOfConnection(sql, { connectionId, subjectHash: null });
  const isMeant = domains ? isInDomains(sql, sql`session.user_id`, domains) : sql`true`;
  await lockSessions(sql, sql`s.connection_id = ${connectionId}`);
  return (await sql`delete from session where connection_id = ${connectionId} and ${isMeant}`).count;
}

/**
 * Waits for running sign-ins of users that a logout may mean, and blocks new ones: only the next statement sees the
 * sessions they create. Same order as every change of a user: the user first.
 */
async function lockUsersOfConnection(
  sql: Connection,
  given: { connectionId: string; subjectHash: Buffer | null; sessionHash?: Buffer | null },
): Promise<void> {
  const { connectionId, subjectHash } = given;
  const sessionHash = subjectHash === null ? (given.sessionHash ?? null) : null;
  const isMeant = (of: OfProvider) => sql`
    ${of.connection} = ${connectionId} and (${subjectHash}::bytea is null or ${of.subject} = ${subjectHash})
    and (${sessionHash}::bytea is null or ${of.session} = ${sessionHash})`;
  await sql`
    select from portal_user u where u.id in (
      select s.user_id from session s where ${isMeant(ofSession(sql))}
    ) order by u.id for no key update of u`;
}

/** What a provider knows a session by. */
type OfProvider = Record<'connection' | 'subject' | 'session', Fragment>;

const ofSession = (sql: Connection): OfProvider => ({
  connection: sql`s.connection_id`,
  subject: sql`s.provider_subject_hash`,
  session: sql`s.provider_session_hash`,
});

/**
 * Ends a connection's sessions of a subject, or of one of the provider's sessions; if both are given, both have to
 * match, or the provider's session has to be unknown. Returns their users, without duplicates.
 */
export async function deleteSessionsOfProvider(
  sql: Connection,
  given: { connectionId: string; subjectHash: Buffer | null; sessionHash: Buffer | null },
  now: Date,
): Promise<{ userId: string; username: string }[]> {
  const { connectionId, subjectHash, sessionHash } = given;
  if (subjectHash === null && sessionHash === null) return [];
  await lockUsersOfConnection(sql, given);
  const isMeant = (of: OfProvider) => sql`
    ${of.connection} = ${connectionId} and (${subjectHash}::bytea is null or ${of.subject} = ${subjectHash})
    and (${sessionHash}::bytea is null or ${of.session} = ${sessionHash}
      or ${subjectHash}::bytea is not null and ${of.session} is null)`;
  return await signOutSessions(sql, isMeant(ofSession(sql)), now);
}

/**
 * Ends a SAML connection's sessions of a subject: all of them if no session of the provider is named, otherwise those
 * from a named session and those whose name is unknown. Returns their users, without duplicates.
 */
export async function deleteSessionsOfSamlSubject(
  sql: Connection,
  given: { connectionId: string; subjectHash: Buffer; sessionHashes: readonly Buffer[] },
  now: Date,
): Promise<{ userId: string; username: string }[]> {
  const { connectionId, subjectHash, sessionHashes } = given;
  await lockUsersOfConnection(sql, given);
  const named = sessionHashes.map((hash) => hash.toString('hex'));
  const isMeant = (of: OfProvider) => sql`
    ${of.connection} = ${connectionId} and ${of.subject} = ${subjectHash}
    and (${named.length === 0} or ${of.session} is null or encode(${of.session}, 'hex') = any(${named}::text[]))`;
  return await signOutSessions(sql, isMeant(ofSession(sql)), now);
}
