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

type Row = {
  username: string;
  userId: string;
  session: { id: string; hash: string } | null;
  sealed: Buffer;
  lastStep: string | null;
};

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
    select u.username, u.id as "userId", k.session, k.sealed_secret as sealed,
      k.last_step as "lastStep"
    from (
      select user_id, null as session, sealed_secret, last_step from totp
      union all
      select s.user_id, jsonb_build_object('id', s.id, 'hash', encode(s.token_hash, 'hex')), sealed_secret, null from pending_totp join session s on s.id = session_id
    ) k join portal_user u on u.id = k.user_id order by u.username`;
  const epoch = Math.floor(now.getTime() / 1000);
  return rows.flatMap(({ username, userId, session, sealed, lastStep }) => {
    const secret = session ? newKey(session, sealed) : unseal(keys.seal, sealed, totpPlace(userId));
    if (secret === null) return [];
    const code = generateSync({ secret, epoch, period });
    const isUsed = lastStep !== null && Number(lastStep) >= Math.floor(epoch / period);
    const isNew = session !== null;
    return { id: `${username}${isNew ? '-new' : ''}`, username, isNew, code, left: period - (epoch % period), isUsed };
  });

  function newKey({ id, hash }: { id: string; hash: string }, sealed: Buffer): string | null {
    if (!isTokenOfSession(keys, registrationToken, Buffer.from(hash, 'hex'))) return null;
    const secret = unseal(keys.seal, sealed, pendingPlace(id));
    return secret && appKey(secret, registrationToken);
  }
}
