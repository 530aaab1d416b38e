import type { Connection } from './database.ts';
import { deleteInParts } from './delete-in-parts.ts';
import { rowOrNull } from './row-or-null.ts';
import type { SecondFactor } from './second-factor.ts';

export type RememberedDevice = {
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

/**
 * Rotates the token of a user's remembered device on use; false if it is unknown, expired, or remembered by none of the
 * factors accepted now.
 */
export async function rotateRememberedDevice(
  sql: Connection,
  use: { userId: string; factors: readonly SecondFactor[]; before: Buffer; after: Buffer; address: string; now: Date },
): Promise<boolean> {
  const { userId, factors, before, after, address, now } = use;
  const rows = await sql`
    with rotated as (
      update remembered_device set token_hash = ${after}, last_used_at = ${now}, address = ${address}
      where token_hash = ${before} and user_id = ${userId} and factor = any(${[...factors]}::text[]) and ends_at > ${now}
      returning id
    )
    insert into former_remembered_token (token_hash, device_id, replaced_at)
    select ${before}, id, ${now}::timestamptz from rotated returning device_id`;
  return rows.length > 0;
}

/** Forgets the device of a user that had this token once, if it was replaced no later than `replacedBy`. */
export async function deleteDeviceByFormerToken(
  sql: Connection,
  { tokenHash, userId, replacedBy }: { tokenHash: Buffer; userId: string; replacedBy: Date },
) {
  return await rowOrNull(sql<Pick<RememberedDevice, 'browser' | 'address' | 'lastUsedAt'>[]>`
    delete from remembered_device d using former_remembered_token former
    where former.token_hash = ${tokenHash} and former.replaced_at <= ${replacedBy}
      and d.id = former.device_id and d.user_id = ${userId}
    returning d.browser, host(d.address) as address, d.last_used_at as "lastUsedAt"`);
}

/** Whether a user's remembered device got its token since a time. */
export async function isRememberedSince(
  sql: Connection,
  { tokenHash, userId, factors }: { tokenHash: Buffer; userId: string; factors: readonly SecondFactor[] },
  since: Date,
): Promise<boolean> {
  const rows = await sql`
    select from remembered_device
    where token_hash = ${tokenHash} and user_id = ${userId} and factor = any(${[...factors]}::text[]) and last_used_at > ${since}`;
  return rows.length > 0;
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
