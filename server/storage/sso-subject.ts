import type { Connection } from './database.ts';

/** The user a provider means by a subject, or null if it is not linked. */
export async function findUserOfSubject(
  sql: Connection,
  connectionId: string,
  subject: string,
): Promise<string | null> {
  const [row] = await sql<{ userId: string }[]>`
    select user_id as "userId" from sso_subject where connection_id = ${connectionId} and subject = ${subject}`;
  return row?.userId ?? null;
}

/** Links a subject to a user; false if either is already linked through this connection. */
export async function insertSsoSubject(
  sql: Connection,
  link: { connectionId: string; subject: string; userId: string; now: Date },
): Promise<boolean> {
  const rows = await sql`
    insert into sso_subject (connection_id, subject, user_id, linked_at)
    values (${link.connectionId}, ${link.subject}, ${link.userId}, ${link.now})
    on conflict do nothing returning user_id`;
  return rows.length > 0;
}

/** The connections by which a user signs in. */
export async function listSsoSubjectsOfUser(
  sql: Connection,
  userId: string,
): Promise<{ connection: string; subject: string; linkedAt: Date }[]> {
  return await sql<{ connection: string; subject: string; linkedAt: Date }[]>`
    select s.key as connection, l.subject, l.linked_at as "linkedAt"
    from sso_subject l join sso_connection s on s.id = l.connection_id where l.user_id = ${userId} order by s.key`;
}

/** Unlinks a user's subject; false if it was not linked. */
export async function deleteSsoSubject(sql: Connection, connectionId: string, userId: string): Promise<boolean> {
  const rows = await sql`
    delete from sso_subject where connection_id = ${connectionId} and user_id = ${userId} returning user_id`;
  return rows.length > 0;
}
