import type { Language } from '#contract/languages.ts';
import { verifyPassword } from '../crypto/password-hash.ts';
import type { Connection } from '../database/database.ts';
import { deleteDevicesOfUser, deleteRememberedDevices } from '../factors/devices.ts';
import { countPasskeys } from '../factors/passkey.ts';
import { limits } from '../limits.ts';
import { type MailReader, queueMail } from '../mail/queue-mail.ts';
import { endSessionsOfUser } from '../sessions/end-sessions.ts';
import { deleteThrottlesOfUser } from '../throttle/throttle.ts';

/** Whether a password is the current one of a user, or one of the nine before it. */
export async function wasUsedBefore(
  sql: Connection,
  user: { id: string; passwordHash: string | null },
  password: string,
  network: string,
): Promise<boolean> {
  const hashes = [user.passwordHash, ...(await listFormerPasswords(sql, user.id))];
  for (const hash of hashes) if (hash !== null && (await verifyPassword(hash, password, network))) return true;
  return false;
}

/**
 * Does what follows from a new or removed password, in its transaction: remembers the old hash, and ends the user's sessions,
 * known and remembered browsers, and waits. Returns how many sessions ended. `kept`: the session in which the person changed it,
 * which goes on.
 */
export async function passwordReplaced(
  sql: Connection,
  userId: string,
  { hashBefore, now, kept = null }: { hashBefore: string | null; now: Date; kept?: string | null },
): Promise<number> {
  if (hashBefore) await insertFormerPassword(sql, userId, hashBefore, now);
  const sessionsEnded = await endSessionsOfUser(sql, userId, { kept });
  // In the same order as a sign-in, so that there is no deadlock.
  await deleteThrottlesOfUser(sql, userId);
  await deleteDevicesOfUser(sql, userId);
  await deleteRememberedDevices(sql, userId);
  return sessionsEnded;
}

/** Notifies users that their password was replaced, in case it was not them, and says how many passkeys still sign in. */
export async function queuePasswordNotice(
  sql: Connection,
  user: MailReader,
  notice: { now: Date; address?: string; language?: Language },
): Promise<void> {
  const passkeys = await countPasskeys(sql, user.id);
  await queueMail(sql, user, { kind: 'passwordChanged', ...notice, ...(passkeys > 0 && { passkeys }) });
}

/** Keeps a replaced hash, and forgets the oldest beyond the limit. */
async function insertFormerPassword(sql: Connection, userId: string, passwordHash: string, now: Date): Promise<void> {
  await sql`
    insert into former_password (user_id, password_hash, replaced_at) values (${userId}, ${passwordHash}, ${now})`;
  await sql`
    delete from former_password where user_id = ${userId} and id not in (
      select id from former_password where user_id = ${userId} order by id desc limit ${limits.passwordsRemembered - 1}
    )`;
}

/** A user's hashes before the current one, newest first. */
async function listFormerPasswords(sql: Connection, userId: string): Promise<string[]> {
  const rows = await sql<{ hash: string }[]>`
    select password_hash as hash from former_password where user_id = ${userId}
    order by id desc limit ${limits.passwordsRemembered - 1}`;
  return rows.map(({ hash }) => hash);
}
