import { newToken, tokenHash } from '../secrets/token.ts';
import type { Connection } from './database.ts';
import { deleteInParts } from './delete-in-parts.ts';
import type { Fragment } from './sso-domain.ts';

/**
 * Records the browser that a user signed in from. Returns its token, and whether it is new; a browser known only
 * through a provider counts as new for the password. The presented token is kept only if it is already known for this
 * user in the same way, and nobody else has signed in there since: any other may have been planted by someone who would then share
 * the user's trust, or kept by whoever was at a shared computer before. In place of it the browser gets `fresh`.
 */
export async function putDevice(
  sql: Connection,
  shown: string | null,
  { userId, byPassword, now, fresh = newToken() }: { userId: string; byPassword: boolean; now: Date; fresh?: string },
): Promise<{ deviceToken: string; isNew: boolean }> {
  const before = shown === null ? null : tokenHash(shown);
  const found = before && (await findDevice(sql, before, userId));
  const isKnown = Boolean(found && (found.byPassword || !byPassword));
  const isKept = isKnown && !found?.isShared;
  const movesOwn = isKnown && !isKept;
  const deviceToken = shown !== null && isKept ? shown : fresh;
  const hash = tokenHash(deviceToken);
  await sql`
    with ${deviceRenewal(sql, isKept ? null : before, hash, { userId, movesOwn, now, forgive: [], isSessionLocked: sql`true`, onlyIf: sql`true` })}
    insert into device (token_hash, user_id, last_used_at, by_password)
    select after, ${userId}, ${now}, ${byPassword} from renewal where not exists (select from own_moved)
    on conflict (token_hash, user_id) do update set last_used_at = excluded.last_used_at`;
  return { deviceToken, isNew: !isKnown };
}

/** Whether anybody has signed in in a browser. */
export async function isKnownDevice(sql: Connection, hash: Buffer): Promise<boolean> {
  return (await sql`select from device where token_hash = ${hash} limit 1`).length > 0;
}

/** Whether a user has signed in in the browser with a token. */
export async function isDeviceOf(sql: Connection, deviceToken: string | null, userId: string): Promise<boolean> {
  return deviceToken !== null && (await findDevice(sql, tokenHash(deviceToken), userId)) !== undefined;
}

/** Notes the browser that a session was opened in, or goes on in under another token. */
export async function updateSessionDevice(
  sql: Connection,
  { sessionHash, deviceToken }: { sessionHash: Buffer; deviceToken: string },
): Promise<void> {
  await sql`update session set device_hash = ${tokenHash(deviceToken)} where token_hash = ${sessionHash}`;
}

/**
 * Whether a session was opened in the browser with a token; of one that an earlier version opened, whether its user has signed in
 * there.
 */
export async function isDeviceOfSession(
  sql: Connection,
  { sessionHash, deviceToken }: { sessionHash: Buffer; deviceToken: string | null },
): Promise<boolean> {
  if (deviceToken === null) return false;
  const hash = tokenHash(deviceToken);
  const rows = await sql`
    select from session s where s.token_hash = ${sessionHash} and coalesce(s.device_hash = ${hash},
      exists (select from device d where d.token_hash = ${hash} and d.user_id = s.user_id))`;
  return rows.length > 0;
}

async function findDevice(
  sql: Connection,
  hash: Buffer,
  userId: string,
): Promise<{ byPassword: boolean; isShared: boolean } | undefined> {
  const [row] = await sql<{ byPassword: boolean; isShared: boolean }[]>`
    select by_password as "byPassword", ${isSharedSince(sql, sql`own`)} as "isShared"
    from device own where token_hash = ${hash} and user_id = ${userId}`;
  return row;
}

/** A condition on a user's browser: another one has signed in there since, and may have kept its token. */
export function isSharedSince(sql: Connection, own: Fragment): Fragment {
  return sql`(${own}.is_shared or exists (select from device other where other.token_hash = ${own}.token_hash
    and other.user_id <> ${own}.user_id and other.last_used_at >= ${own}.last_used_at))`;
}

/**
 * Parts of a statement that give a browser another token: other users known by the old token move to the new one, with
 * their wrong guesses, and so does this one, if they are known by it in the same way (`movesOwn`); else theirs is gone. Locks
 * follow one order, so that nothing done at once in one browser deadlocks: sessions, which `isSessionLocked` waits for, then
 * `waits`, the throttles of those users and of `forgive`, then devices: whoever writes one reads `renewal`, which comes after.
 */
export function deviceRenewal(
  sql: Connection,
  before: Buffer | null,
  after: Buffer | null,
  by: {
    userId: string;
    movesOwn: boolean;
    now: Date;
    forgive: readonly string[];
    isSessionLocked: Fragment;
    onlyIf: Fragment;
  },
) {
  const { userId, movesOwn, now, forgive, isSessionLocked, onlyIf } = by;
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
      update device d set token_hash = after,
        last_used_at = case when d.user_id = ${userId} then ${now} else d.last_used_at end,
        is_shared = d.is_shared and d.user_id <> ${userId}
      from renewal where d.token_hash = before and (${movesOwn} or d.user_id <> ${userId})
      returning d.user_id
    ),
    own_moved as (select from device_renewed where user_id = ${userId}),
    device_left as (
      delete from device d using renewal where d.token_hash = before and d.user_id = ${userId} and not ${movesOwn}
    )`;
}

/**
 * Forgets the browsers that a user signed in from; a trigger notes with those who were there before that they are shared. Their
 * rows are locked in one order, as by a sign-in, so that there is no deadlock.
 */
export async function deleteDevicesOfUser(sql: Connection, userId: string): Promise<void> {
  await sql`
    select from device where token_hash in (select token_hash from device where user_id = ${userId})
    order by token_hash, user_id for update`;
  await sql`delete from device where user_id = ${userId}`;
}

/** Deletes browsers that nobody has signed in from since `before`; returns how many. */
export async function deleteStaleDevices(sql: Connection, before: Date): Promise<number> {
  return await deleteInParts(sql, 'device', sql`last_used_at < ${before}`);
}
