import { generateSync } from 'otplib';
import type { Keys } from '#server/crypto/keys.ts';
import { unseal } from '#server/crypto/keys.ts';
import { tokenHash } from '#server/crypto/token.ts';
import type { Database } from '#server/database/database.ts';
import { pendingPlace, totpPlace } from '#server/factors/registration.ts';
import { period } from '#server/factors/totp.ts';

/** What an authenticator app shows of one account. */
export type AppCode = {
  id: string;
  username: string;
  /** Shown on the page that sets the app up, and not confirmed yet. */
  isNew: boolean;
  code: string;
  /** Seconds until the next code. */
  left: number;
  /** The portal has accepted this code, and accepts none twice. */
  isUsed: boolean;
};

type Row = { username: string; userId: string; isNew: boolean; sealed: Buffer; lastStep: string | null };

/**
 * The current codes of every account with an app, also of one that is being set up in this browser, which its `device` cookie
 * says: this authenticator need not be told a key, since it looks into the demo's own database. A real one cannot.
 */
export async function appCodes(
  { sql, keys }: { sql: Database; keys: Keys },
  deviceToken: string | null,
  now: Date,
): Promise<AppCode[]> {
  const deviceHash = tokenHash(deviceToken ?? '');
  const rows = await sql<Row[]>`
    select u.username, u.id as "userId", k.is_new as "isNew", k.sealed_secret as sealed, k.last_step as "lastStep"
    from (
      select user_id, false as is_new, sealed_secret, last_step from totp
      union all
      select user_id, true, sealed_secret, null from pending_totp where device_hash = ${deviceHash} and ends_at > ${now}
    ) k join portal_user u on u.id = k.user_id order by u.username`;
  const epoch = Math.floor(now.getTime() / 1000);
  return rows.flatMap(({ username, userId, isNew, sealed, lastStep }) => {
    const secret = unseal(keys.seal, sealed, isNew ? pendingPlace(userId, deviceHash) : totpPlace(userId));
    if (secret === null) return [];
    const code = generateSync({ secret, epoch, period });
    const isUsed = lastStep !== null && Number(lastStep) >= Math.floor(epoch / period);
    return { id: `${username}${isNew ? '-new' : ''}`, username, isNew, code, left: period - (epoch % period), isUsed };
  });
}
