import { generateSync } from 'otplib';
import type { Keys } from '#server/secrets/keys.ts';
import { unseal } from '#server/secrets/sealed.ts';
import type { Database } from '#server/storage/database.ts';
import { appKey, isTokenOfSession } from '#server/two-factor/app-key.ts';
import { pendingPlace, totpPlace } from '#server/two-factor/registration.ts';
import { period } from '#server/two-factor/totp.ts';

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

type Row = { username: string; userId: string; sessionHash: Buffer | null; sealed: Buffer; lastStep: string | null };

/**
 * The current codes of every account with an app, also of one that is being set up in this browser, which the token says:
 * this authenticator need not be told a key, since it looks into the demo's own database. A real one cannot.
 */
export async function appCodes(
  { sql, keys }: { sql: Database; keys: Keys },
  registrationToken: string | null,
  now: Date,
): Promise<AppCode[]> {
  const rows = await sql<Row[]>`
    select u.username, u.id as "userId", k.session_hash as "sessionHash", k.sealed_secret as sealed,
      k.last_step as "lastStep"
    from (
      select user_id, null as session_hash, sealed_secret, last_step from totp
      union all
      select s.user_id, session_hash, sealed_secret, null from pending_totp join session s on s.token_hash = session_hash
    ) k join portal_user u on u.id = k.user_id order by u.username`;
  const epoch = Math.floor(now.getTime() / 1000);
  return rows.flatMap(({ username, userId, sessionHash, sealed, lastStep }) => {
    const secret = sessionHash ? newKey(sessionHash, sealed) : unseal(keys.seal, sealed, totpPlace(userId));
    if (secret === null) return [];
    const code = generateSync({ secret, epoch, period });
    const isUsed = lastStep !== null && Number(lastStep) >= Math.floor(epoch / period);
    const isNew = sessionHash !== null;
    return { id: `${username}${isNew ? '-new' : ''}`, username, isNew, code, left: period - (epoch % period), isUsed };
  });

  function newKey(sessionHash: Buffer, sealed: Buffer): string | null {
    if (!isTokenOfSession(keys, registrationToken, sessionHash)) return null;
    const secret = unseal(keys.seal, sealed, pendingPlace(sessionHash));
    return secret && appKey(secret, registrationToken);
  }
}
