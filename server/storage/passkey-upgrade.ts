import { limits } from '../limits.ts';
import type { Connection } from './database.ts';

/**
 * Whether a browser may make a passkey by itself: in a session that began with a password there, if it has not made one for the
 * user before, they may have one more, and no other page of the session has begun it.
 */
export async function isUpgradeOpen(
  sql: Connection,
  { sessionHash, deviceHash, now }: { sessionHash: Buffer; deviceHash: Buffer; now: Date },
): Promise<boolean> {
  const rows = await sql`
    select from session s join device d on d.user_id = s.user_id and d.token_hash = ${deviceHash}
    where s.token_hash = ${sessionHash} and s.connection_id is null and s.passkey_id is null
      and d.by_password and d.passkey_made_at is null
      and (select count(*) from passkey where user_id = s.user_id) < ${limits.passkeysOfUser}
      and not exists (select from passkey_challenge
        where session_hash = s.token_hash and purpose = 'upgrade' and ends_at > ${now})`;
  return rows.length > 0;
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
