import type { Connection } from '../database/database.ts';
import { deleteInParts } from '../database/delete-in-parts.ts';

/** The sealed secret of a user's confirmed app, or null. */
export async function findTotp(sql: Connection, userId: string): Promise<Buffer | null> {
  const [row] = await sql<{ secret: Buffer }[]>`select sealed_secret as secret from totp where user_id = ${userId}`;
  return row?.secret ?? null;
}

/** The sealed secret of a user's confirmed app, locked until the transaction ends; or null. */
export async function findTotpForUpdate(sql: Connection, userId: string): Promise<Buffer | null> {
  const [row] = await sql<{ secret: Buffer }[]>`
    select sealed_secret as secret from totp where user_id = ${userId} for update`;
  return row?.secret ?? null;
}

/** Consumes a time step; false if it or a later one was used already. Steps only go up. */
export async function spendTotpStep(sql: Connection, userId: string, step: number): Promise<boolean> {
  const rows = await sql`
    update totp set last_step = ${step} where user_id = ${userId} and last_step < ${step} returning user_id`;
  return rows.length > 0;
}

/** Confirms a user's app; false if there is one already. */
export async function insertTotp(
  sql: Connection,
  totp: { userId: string; sealedSecret: Buffer; lastStep: number; confirmedAt: Date },
): Promise<boolean> {
  const rows = await sql`
    insert into totp (user_id, sealed_secret, last_step, confirmed_at)
    values (${totp.userId}, ${totp.sealedSecret}, ${totp.lastStep}, ${totp.confirmedAt})
    on conflict (user_id) do nothing returning user_id`;
  return rows.length > 0;
}

export async function deleteTotp(sql: Connection, userId: string): Promise<boolean> {
  return (await sql`delete from totp where user_id = ${userId}`).count > 0;
}

/** The sealed secret that a user is to confirm in a browser: the one that they were shown there before, else the given one. */
export async function putPendingTotp(
  sql: Connection,
  pending: { userId: string; deviceHash: Buffer; sealedSecret: Buffer; endsAt: Date },
  now: Date,
): Promise<Buffer> {
  const { userId, deviceHash, sealedSecret, endsAt } = pending;
  const [row] = await sql<[{ sealedSecret: Buffer }]>`
    insert into pending_totp as p (user_id, device_hash, sealed_secret, ends_at)
    values (${userId}, ${deviceHash}, ${sealedSecret}, ${endsAt})
    on conflict (user_id, device_hash) do update set ends_at = excluded.ends_at,
      sealed_secret = case when p.ends_at > ${now} then p.sealed_secret else excluded.sealed_secret end
    returning sealed_secret as "sealedSecret"`;
  return row.sealedSecret;
}

export async function findPendingTotp(
  sql: Connection,
  { userId, deviceHash }: { userId: string; deviceHash: Buffer },
  now: Date,
): Promise<Buffer | null> {
  const [row] = await sql<{ secret: Buffer }[]>`
    select sealed_secret as secret from pending_totp
    where user_id = ${userId} and device_hash = ${deviceHash} and ends_at > ${now}`;
  return row?.secret ?? null;
}

/** Forgets what a user was to confirm, in every browser. */
export async function deletePendingTotp(sql: Connection, userId: string): Promise<void> {
  await sql`delete from pending_totp where user_id = ${userId}`;
}

/** Deletes secrets that can no longer be confirmed; returns how many. */
export async function deleteEndedPendingTotp(sql: Connection, now: Date): Promise<number> {
  return await deleteInParts(sql, 'pending_totp', sql`ends_at <= ${now}`);
}
