import { newToken, tokenHash } from '../secrets/token.ts';
import type { Connection } from './database.ts';
import { deleteInParts } from './delete-in-parts.ts';
import type { Fragment } from './sso-domain.ts';

/**
 * Records the browser that a user signed in from. Returns its token, and whether it is new; a browser known only
 * through a provider counts as new for the password. The presented token is kept only if it is already known for this
 * user in the same way: any other may have been planted by someone who would then share the user's trust. A new browser gets `fresh`.
 */
export async function putDevice(
  sql: Connection,
  shown: string | null,
  { userId, byPassword, now, fresh = newToken() }: { userId: string; byPassword: boolean; now: Date; fresh?: string },
): Promise<{ deviceToken: string; isNew: boolean }> {
  const before = shown === null ? null : tokenHash(shown);
  const known = before && (await findDevice(sql, before, userId));
  const deviceToken = shown !== null && known && (known.byPassword || !byPassword) ? shown : fresh;
  const hash = tokenHash(deviceToken);
  const isKept = deviceToken === shown;
  await sql`
    with ${deviceRenewal(sql, isKept ? null : before, hash, { userId, forgive: [], isSessionLocked: sql`true`, onlyIf: sql`true` })}
    insert into device (token_hash, user_id, last_used_at, by_password)
    select after, ${userId}, ${now}, ${byPassword} from renewal
    on conflict (token_hash, user_id) do update set last_used_at = excluded.last_used_at`;
  return { deviceToken, isNew: !isKept };
}

/** Whether anybody has signed in in a browser. */
export async function isKnownDevice(sql: Connection, hash: Buffer): Promise<boolean> {
  return (await sql`select from device where token_hash = ${hash} limit 1`).length > 0;
}

/** Whether a user has signed in in the browser with a token. */
export async function isDeviceOf(sql: Connection, deviceToken: string | null, userId: string): Promise<boolean> {
  return deviceToken !== null && (await findDevice(sql, tokenHash(deviceToken), userId)) !== undefined;
}

async function findDevice(sql: Connection, hash: Buffer, userId: string): Promise<{ byPassword: boolean } | undefined> {
  const [row] = await sql<{ byPassword: boolean }[]>`
    select by_password as "byPassword" from device where token_hash = ${hash} and user_id = ${userId}`;
  return row;
}

/**
 * Parts of a statement that give a browser another token: other users known by the old token move to the new one, with
 * their wrong guesses. Locks follow one order, so that nothing done at once in one browser deadlocks: sessions, which
 * `isSessionLocked` waits for, then `waits`, the throttles of those users and of `forgive`, then devices: whoever writes
 * one reads `renewal`, which comes after.
 */
export function deviceRenewal(
  sql: Connection,
  before: Buffer | null,
  after: Buffer | null,
  by: { userId: string; forgive: readonly string[]; isSessionLocked: Fragment; onlyIf: Fragment },
) {
  const { userId, forgive, isSessionLocked, onlyIf } = by;
  return sql`
    waits as materialized (
      select key from throttle
      where ${isSessionLocked} and key = any(${[...forgive]}::text[] || array(
        select 'device:' || encode(token_hash, 'hex') || ':' || user_id from device
        where token_hash = ${before} and user_id <> ${userId}))
      order by key for update
    ),
    renewal as materialized (
      select ${before}::bytea as before, ${after}::bytea as after from (select count(*) from waits) as locked where ${onlyIf}
    ),
    guesses_renewed as (
      update throttle t set key = 'device:' || encode(after, 'hex') || ':' || d.user_id
      from renewal, device d
      where d.token_hash = before and d.user_id <> ${userId}
        and t.key = 'device:' || encode(before, 'hex') || ':' || d.user_id
    ),
    device_renewed as (
      update device d set token_hash = after from renewal where d.token_hash = before and d.user_id <> ${userId}
    ),
    device_left as (
      delete from device d using renewal where d.token_hash = before and d.user_id = ${userId}
    )`;
}

/** Forgets the browsers that a user signed in from. */
export async function deleteDevicesOfUser(sql: Connection, userId: string): Promise<void> {
  await sql`delete from device where user_id = ${userId}`;
}

/** Deletes browsers that nobody has signed in from since `before`; returns how many. */
export async function deleteStaleDevices(sql: Connection, before: Date): Promise<number> {
  return await deleteInParts(sql, 'device', sql`last_used_at < ${before}`);
}
