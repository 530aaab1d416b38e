import type { Connection } from '../database/database.ts';
import { limits } from '../limits.ts';

/** Keeps a replaced hash, and forgets the oldest beyond the limit. */
export async function insertFormerPassword(
  sql: Connection,
  userId: string,
  passwordHash: string,
  now: Date,
): Promise<void> {
  await sql`
    insert into former_password (user_id, password_hash, replaced_at) values (${userId}, ${passwordHash}, ${now})`;
  await sql`
    delete from former_password where user_id = ${userId} and id not in (
      select id from former_password where user_id = ${userId} order by id desc limit ${limits.passwordsRemembered - 1}
    )`;
}

/** A user's hashes before the current one, newest first. */
export async function listFormerPasswords(sql: Connection, userId: string): Promise<string[]> {
  const rows = await sql<{ hash: string }[]>`
    select password_hash as hash from former_password where user_id = ${userId}
    order by id desc limit ${limits.passwordsRemembered - 1}`;
  return rows.map(({ hash }) => hash);
}
