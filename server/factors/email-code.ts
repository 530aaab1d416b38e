import type { Connection } from '../database/database.ts';
import { rowOrNull } from '../database/row-or-null.ts';

type EmailCode = { sessionId: string; codeHash: Buffer; madeAt: Date; endsAt: Date };

/**
 * Replaces the code of a half session. False if it has used up its emails, the last one is too recent, or it has ended.
 */
export async function putEmailCode(
  sql: Connection,
  code: EmailCode,
  { mostSends, lastBefore }: { mostSends: number; lastBefore: Date },
): Promise<boolean> {
  const rows = await sql`
    insert into email_code as c (session_id, code_hash, made_at, ends_at)
    select id, ${code.codeHash}, ${code.madeAt}, ${code.endsAt}
    from session where id = ${code.sessionId} for key share
    on conflict (session_id) do update set
      code_hash = excluded.code_hash, made_at = excluded.made_at, ends_at = excluded.ends_at, sent = c.sent + 1
    where c.sent < ${mostSends} and c.made_at <= ${lastBefore}
    returning session_id`;
  return rows.length > 0;
}

/** When the code of a half session was made, and how many it has had; or null. */
export async function findEmailCode(sql: Connection, sessionId: string) {
  return await rowOrNull(sql<{ madeAt: Date; sent: number }[]>`
    select made_at as "madeAt", sent from email_code where session_id = ${sessionId}`);
}

/** Whether a code would still be accepted. */
export async function isEmailCodeOpen(sql: Connection, codeHash: Buffer, now: Date): Promise<boolean> {
  return (await sql`select from email_code where code_hash = ${codeHash} and ends_at > ${now}`).length > 0;
}

/** Consumes a half session's code if it matches a digest and is still valid; concurrent calls succeed once. */
export async function takeEmailCode(
  sql: Connection,
  sessionId: string,
  digests: readonly Buffer[],
  now: Date,
): Promise<boolean> {
  const rows = await sql`
    delete from email_code
    where session_id = ${sessionId} and code_hash = any(${digests}::bytea[]) and ends_at > ${now}
    returning session_id`;
  return rows.length > 0;
}

/** Records that emailed codes reach a user. */
export async function insertEmailFactor(sql: Connection, userId: string, now: Date): Promise<void> {
  await sql`
    insert into email_factor (user_id, confirmed_at) values (${userId}, ${now}) on conflict (user_id) do nothing`;
}

export async function deleteEmailFactor(sql: Connection, userId: string): Promise<boolean> {
  return (await sql`delete from email_factor where user_id = ${userId}`).count > 0;
}
