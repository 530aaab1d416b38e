import { tokenHash as hashOf } from '../crypto/token.ts';
import type { Connection } from '../database/database.ts';
import { deleteInParts } from '../database/delete-in-parts.ts';
import type { SecondFactor } from '../people/second-factor.ts';

type RememberedDevice = {
  id: string;
  /** What was proven when it was remembered; a recovery code counts as the app. */
  factor: SecondFactor;
  browser: string | null;
  address: string;
  madeAt: Date;
  lastUsedAt: Date;
  endsAt: Date;
};

export async function insertRememberedDevice(
  sql: Connection,
  device: Omit<RememberedDevice, 'id' | 'lastUsedAt'> & { tokenHash: Buffer; userId: string },
): Promise<void> {
  const { tokenHash, userId, factor, browser, address, madeAt, endsAt } = device;
  await sql`
    insert into remembered_device (token_hash, user_id, factor, browser, address, made_at, last_used_at, ends_at)
    values (${tokenHash}, ${userId}, ${factor}, ${browser}, ${address}, ${madeAt}, ${madeAt}, ${endsAt})`;
}

/** The factor by which a browser is remembered for a user, which is noted as a use; null if it is not. */
export async function recallDevice(
  sql: Connection,
  { rememberedToken, address }: { rememberedToken: string | null; address: string },
  userId: string,
  now: Date,
): Promise<SecondFactor | null> {
  if (rememberedToken === null) return null;
  const [row] = await sql<{ factor: SecondFactor }[]>`
    update remembered_device set last_used_at = ${now}, address = ${address}
    where token_hash = ${hashOf(rememberedToken)} and user_id = ${userId} and ends_at > ${now}
    returning factor`;
  return row?.factor ?? null;
}

/** The remembered devices of a user, most recently used first. */
export async function listRememberedDevices(sql: Connection, userId: string, now: Date): Promise<RememberedDevice[]> {
  return await sql<RememberedDevice[]>`
    select id, factor, browser, host(address) as address, made_at as "madeAt", last_used_at as "lastUsedAt", ends_at as "endsAt"
    from remembered_device where user_id = ${userId} and ends_at > ${now} order by last_used_at desc`;
}

/** The id of a user's remembered device with a token; null if there is none. */
export async function findRememberedDeviceId(
  sql: Connection,
  userId: string,
  tokenHash: Buffer,
): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`
    select id from remembered_device where user_id = ${userId} and token_hash = ${tokenHash}`;
  return row?.id ?? null;
}

/** Forgets one or all remembered devices of a user; returns how many. */
export async function deleteRememberedDevices(sql: Connection, userId: string, id?: string): Promise<number> {
  return (await sql`delete from remembered_device where user_id = ${userId} and id = coalesce(${id ?? null}::uuid, id)`)
    .count;
}

/** Forgets the devices of a user that are remembered by a factor; returns how many. */
export async function deleteDevicesRememberedBy(
  sql: Connection,
  userId: string,
  factor: SecondFactor,
): Promise<number> {
  return (await sql`delete from remembered_device where user_id = ${userId} and factor = ${factor}`).count;
}

/** Deletes expired devices; returns how many. */
export async function deleteEndedRememberedDevices(sql: Connection, now: Date): Promise<number> {
  return await deleteInParts(sql, 'remembered_device', sql`ends_at <= ${now}`);
}
