import { newToken, tokenHash } from '../crypto/token.ts';
import type { Connection } from '../database/database.ts';
import { deleteInParts } from '../database/large-tables.ts';
import { limits } from '../limits.ts';

/**
 * Records the browser that a user signed in from. Returns its token, and whether it is new: one known only through a provider
 * is new for the password. A token that is not known for this user may have been planted by somebody who would then share their
 * trust, so the browser gets another; whoever else was known by the old one is new at their next sign-in there.
 */
export async function putDevice(
  sql: Connection,
  shown: string | null,
  { userId, byPassword, now, fresh = newToken() }: { userId: string; byPassword: boolean; now: Date; fresh?: string },
): Promise<{ deviceToken: string; isNew: boolean }> {
  if (shown !== null && (await updateDeviceUsed(sql, tokenHash(shown), { userId, byPassword, now })))
    return { deviceToken: shown, isNew: false };
  await sql`
    insert into device (token_hash, user_id, last_used_at, by_password)
    values (${tokenHash(fresh)}, ${userId}, ${now}, ${byPassword})`;
  return { deviceToken: fresh, isNew: true };
}

/** False if the user is not known in a browser, or not in this way. */
async function updateDeviceUsed(
  sql: Connection,
  hash: Buffer,
  { userId, byPassword, now }: { userId: string; byPassword: boolean; now: Date },
): Promise<boolean> {
  const since = new Date(now.getTime() - limits.deviceLifetime);
  const { count } = await sql`
    update device set last_used_at = ${now}
    where token_hash = ${hash} and user_id = ${userId} and last_used_at > ${since} and (by_password or not ${byPassword})`;
  return count > 0;
}

/** Whether anybody has signed in in a browser. */
export async function isKnownDevice(sql: Connection, hash: Buffer): Promise<boolean> {
  return (await sql`select from device where token_hash = ${hash} limit 1`).length > 0;
}

/** Forgets the browsers that a user signed in from. */
export async function deleteDevicesOfUser(sql: Connection, userId: string): Promise<void> {
  await sql`delete from device where user_id = ${userId}`;
}

/** Deletes browsers that nobody has signed in from since `before`; returns how many. */
export async function deleteStaleDevices(sql: Connection, before: Date): Promise<number> {
  return await deleteInParts(sql, 'device', sql`last_used_at < ${before}`);
}
