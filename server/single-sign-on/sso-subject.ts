import type { Connection } from '../database/database.ts';
import { isInDomains } from '../people/sign-in-policy.ts';

/** Links a subject to a user; false if the subject is another user's, or the user has another subject there. */
export async function linkSubject(
  sql: Connection,
  { connectionId, subject, userId, now }: { connectionId: string; subject: string; userId: string; now: Date },
): Promise<boolean> {
  await sql`
    insert into sso_subject (connection_id, subject, user_id, linked_at)
    values (${connectionId}, ${subject}, ${userId}, ${now}) on conflict do nothing`;
  const linked = await sql`
    select from sso_subject where connection_id = ${connectionId} and subject = ${subject} and user_id = ${userId}`;
  return linked.length > 0;
}

/** How many users are linked through a connection, and the latest of them. */
export async function findLinksOfConnection(
  sql: Connection,
  connectionId: string,
  { most }: { most: number },
): Promise<{ count: number; latest: { username: string; linkedAt: Date }[] }> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from sso_subject where connection_id = ${connectionId}`;
  const latest = await sql<{ username: string; linkedAt: Date }[]>`
    select u.username, l.linked_at as "linkedAt" from sso_subject l join portal_user u on u.id = l.user_id
    where l.connection_id = ${connectionId} order by l.linked_at desc, u.username limit ${most}`;
  return { count: row?.count ?? 0, latest };
}

/** Unlinks a user's subject; false if it was not linked. */
export async function deleteSsoSubject(sql: Connection, connectionId: string, userId: string): Promise<boolean> {
  const rows = await sql`
    delete from sso_subject where connection_id = ${connectionId} and user_id = ${userId} returning user_id`;
  return rows.length > 0;
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
