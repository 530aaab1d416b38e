import type { Language } from '#contract/languages.ts';
import { type MailReader, queueMail } from '../mail/queue-mail.ts';
import type { Connection } from '../storage/database.ts';
import { deleteDevicesOfUser } from '../storage/device.ts';
import { insertFormerPassword } from '../storage/former-password.ts';
import { countPasskeys } from '../storage/passkey.ts';
import { deleteRememberedDevices } from '../storage/remembered-device.ts';
import { withdrawLinksOfUser } from '../storage/reset-link.ts';
import { endSessionsOfUser } from '../storage/session-list.ts';
import { deleteThrottlesOfUser } from '../storage/throttle.ts';

/**
 * The effects of a new or removed password, in its transaction: the old hash is remembered; links, sessions, known and
 * remembered browsers and waits end. Returns how many sessions ended. `kept`: the session that goes on, if the person changed it
 * there.
 */
export async function passwordReplaced(
  sql: Connection,
  userId: string,
  hashBefore: string | null,
  now: Date,
  kept: string | null = null,
): Promise<number> {
  if (hashBefore) await insertFormerPassword(sql, userId, hashBefore, now);
  await withdrawLinksOfUser(sql, userId);
  const sessionsEnded = await endSessionsOfUser(sql, userId, { kept });
  // Before the devices, as by a sign-in, so that there is no deadlock.
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
