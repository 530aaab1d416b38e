import type { Connection } from './database.ts';
import { rowOrNull } from './row-or-null.ts';

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

/** The sealed secret of an app that a session sets up. */
export type PendingTotp = { sealedSecret: Buffer; madeAt: Date };

/** The secret that a session must confirm: the one it had before, else the given one. */
export async function findOrInsertPendingTotp(
  sql: Connection,
  pending: PendingTotp & { sessionId: string },
): Promise<PendingTotp> {
  const { sessionId, sealedSecret, madeAt } = pending;
  await sql`
    insert into pending_totp (session_id, sealed_secret, made_at)
    select id, ${sealedSecret}::bytea, ${madeAt}::timestamptz from session where id = ${sessionId} for key share
    on conflict (session_id) do nothing`;
  return (await findPendingTotp(sql, sessionId)) ?? { sealedSecret, madeAt };
}

export async function findPendingTotp(sql: Connection, sessionId: string): Promise<PendingTotp | null> {
  return await rowOrNull(sql<PendingTotp[]>`
    select sealed_secret as "sealedSecret", made_at as "madeAt" from pending_totp where session_id = ${sessionId}`);
}

export async function deletePendingTotp(sql: Connection, sessionId: string): Promise<void> {
  await sql`delete from pending_totp where session_id = ${sessionId}`;
}
