import { newToken, tokenHash } from '../secrets/token.ts';
import type { Connection } from './database.ts';

/**
 * Notes the browser that a user signed in from: the token that it has from now on, and whether it is new, which it is by
 * the password too where only a provider brought it in before. It keeps the one that it showed when that is known for this
 * very user, as well as now: any other may have been planted, and whoever did would share what the user earns with it.
 */
export async function putDevice(
  sql: Connection,
  shown: string | null,
  { userId, byPassword, now }: { userId: string; byPassword: boolean; now: Date },
): Promise<{ deviceToken: string; isNew: boolean }> {
  const before = shown === null ? null : tokenHash(shown);
  const [known] = await sql<{ byPassword: boolean }[]>`
    select by_password as "byPassword" from device where token_hash = ${before} and user_id = ${userId}`;
  const deviceToken = shown !== null && known && (known.byPassword || !byPassword) ? shown : newToken();
  const hash = tokenHash(deviceToken);
  const isKept = deviceToken === shown;
  await sql`
    with ${deviceRenewal(sql, isKept ? null : before, hash, { userId, onlyIf: sql`true` })}
    insert into device (token_hash, user_id, last_used_at, by_password) values (${hash}, ${userId}, ${now}, ${byPassword})
    on conflict (token_hash, user_id) do update set last_used_at = excluded.last_used_at`;
  return { deviceToken, isNew: !isKept };
}

/**
 * Parts of a statement that give a browser another token: whoever else is known by the one before is by the new one, with
 * what they have guessed wrong.
 */
export function deviceRenewal(
  sql: Connection,
  before: Buffer | null,
  after: Buffer | null,
  { userId, onlyIf }: { userId: string; onlyIf: ReturnType<Connection> },
) {
  return sql`
    renewal as materialized (
      select ${before}::bytea as before, ${after}::bytea as after where ${onlyIf}
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

/** Makes the browsers that a user signed in from unknown again. */
export async function deleteDevicesOfUser(sql: Connection, userId: string): Promise<void> {
  await sql`delete from device where user_id = ${userId}`;
}

/** Deletes browsers that nobody signed in from since `before`; returns how many. */
export async function deleteStaleDevices(sql: Connection, before: Date): Promise<number> {
  return (await sql`delete from device where last_used_at < ${before}`).count;
}
