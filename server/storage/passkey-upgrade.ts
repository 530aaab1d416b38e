import { limits } from '../limits.ts';
import type { Connection } from './database.ts';

/**
 * Takes a session's only passkey that a browser may make by itself: in a session that began with a password there a moment ago, if
 * that browser has not made one for the user before, and they may have one more. Of several pages one gets it.
 */
export async function takeUpgrade(
  sql: Connection,
  { sessionHash, deviceHash, now }: { sessionHash: Buffer; deviceHash: Buffer; now: Date },
): Promise<boolean> {
  const since = new Date(now.getTime() - limits.passkeyUnasked);
  const { count } = await sql`
    update session s set passkey_begun = true
    where s.token_hash = ${sessionHash} and s.connection_id is null and s.passkey_id is null
      and not s.passkey_begun and s.created_at > ${since}
      and exists (select from device d where d.user_id = s.user_id and d.token_hash = ${deviceHash}
        and d.by_password and d.passkey_made_at is null)
      and (select count(*) from passkey where user_id = s.user_id) < ${limits.passkeysOfUser}`;
  return count > 0;
}

/** Notes that a browser has made a passkey for a user by itself; false if it has before, or is not known. Lock the user first. */
export async function putPasskeyMade(
  sql: Connection,
  { userId, deviceHash, now }: { userId: string; deviceHash: Buffer | null; now: Date },
): Promise<boolean> {
  const { count } = await sql`
    update device set passkey_made_at = ${now}
    where token_hash = ${deviceHash} and user_id = ${userId} and by_password and passkey_made_at is null`;
  return count > 0;
}
