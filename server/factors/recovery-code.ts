import type { Connection } from '../database/database.ts';
import { deleteInParts } from '../database/delete-in-parts.ts';

/** Gives a user exactly these recovery codes. */
export async function replaceRecoveryCodes(sql: Connection, userId: string, digests: readonly Buffer[]): Promise<void> {
  await sql`delete from recovery_code where user_id = ${userId}`;
  await sql`
    insert into recovery_code (user_id, code_hash)
    select ${userId}, digest from unnest(${digests}::bytea[]) digest`;
}

/** Consumes a recovery code; returns how many are left, or null if it is unknown or used. */
export async function takeRecoveryCode(
  sql: Connection,
  userId: string,
  digests: readonly Buffer[],
  now: Date,
): Promise<number | null> {
  const rows = await sql`
    update recovery_code set used_at = ${now}
    where user_id = ${userId} and code_hash = any(${digests}::bytea[]) and used_at is null
    returning user_id`;
  return rows.length > 0 ? await countRecoveryCodes(sql, userId) : null;
}

/** How many unused recovery codes a user has. */
export async function countRecoveryCodes(sql: Connection, userId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) as count from recovery_code where user_id = ${userId} and used_at is null`;
  return row?.count ?? 0;
}

export async function deleteRecoveryCodes(sql: Connection, userId: string): Promise<void> {
  await sql`delete from recovery_code where user_id = ${userId}`;
  await sql`delete from shown_recovery_codes where user_id = ${userId}`;
}

/** Keeps the codes sealed while one session may view them; they end with the session. */
export async function putShownRecoveryCodes(
  sql: Connection,
  shown: { userId: string; sessionId: string; sealedCodes: Buffer; shownUntil: Date },
): Promise<void> {
  const { userId, sessionId, sealedCodes, shownUntil } = shown;
  await sql`
    insert into shown_recovery_codes (user_id, session_id, sealed_codes, shown_until)
    values (${userId}, ${sessionId}, ${sealedCodes}, ${shownUntil})
    on conflict (user_id) do update set session_id = excluded.session_id,
      sealed_codes = excluded.sealed_codes, shown_until = excluded.shown_until`;
}

export async function findShownRecoveryCodes(
  sql: Connection,
  { userId, sessionId, now }: { userId: string; sessionId: string; now: Date },
): Promise<Buffer | null> {
  const [row] = await sql<{ codes: Buffer }[]>`
    select sealed_codes as codes from shown_recovery_codes
    where user_id = ${userId} and session_id = ${sessionId} and shown_until > ${now}`;
  return row?.codes ?? null;
}

/** Deletes viewable codes whose time is over; returns how many users had some. */
export async function deleteShownRecoveryCodes(sql: Connection, now: Date): Promise<number> {
  return await deleteInParts(sql, 'shown_recovery_codes', sql`shown_until <= ${now}`);
}
