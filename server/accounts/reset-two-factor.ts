import { queueMail } from '../mail/queue-mail.ts';
import { foldLoginName } from '../names/fold-name.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Database } from '../storage/database.ts';
import { deleteEmailFactor } from '../storage/email-code.ts';
import { findUserForUpdate } from '../storage/portal-user.ts';
import { deleteRecoveryCodes } from '../storage/recovery-code.ts';
import { deleteRememberedDevices } from '../storage/remembered-device.ts';
import { endSessionsOfUser } from '../storage/session-list.ts';
import { deleteThrottleOfEveryWay } from '../storage/throttle.ts';
import { codeKey } from '../storage/throttle-keys.ts';
import { deleteTotp } from '../storage/totp.ts';

type ResetTwoFactorResult = { kind: 'notFound' } | { kind: 'nothing' } | { kind: 'removed'; sessionsEnded: number };

/**
 * Removes every second factor of a user: app, email, recovery codes, remembered devices; ends sessions and notifies the
 * user. The operator has verified whose phone was lost: nothing a visitor can do leads here.
 */
export async function resetTwoFactor(sql: Database, name: string, now: Date): Promise<ResetTwoFactorResult> {
  return await sql.begin(async (sql): Promise<ResetTwoFactorResult> => {
    const user = await findUserForUpdate(sql, foldLoginName(name));
    if (!user) return { kind: 'notFound' };
    const hadApp = await deleteTotp(sql, user.id);
    const hadEmail = await deleteEmailFactor(sql, user.id);
    const devices = await deleteRememberedDevices(sql, user.id);
    await deleteRecoveryCodes(sql, user.id);
    await deleteThrottleOfEveryWay(sql, codeKey, user.id);
    if (!hadApp && !hadEmail && devices === 0) return { kind: 'nothing' };
    const sessionsEnded = await endSessionsOfUser(sql, user.id);
    const steps = [
      {
        step: 'removed',
        outcome: [hadApp && 'app', hadEmail && 'email'].filter(Boolean).join(', ') || 'devices only',
      },
      { step: 'devices forgotten', outcome: String(devices) },
      { step: 'sessions ended', outcome: String(sessionsEnded) },
    ];
    const { id: userId, username } = user;
    await insertAuditEvent(sql, { event: 'two-factor-reset', userId, username, steps }, now);
    if (user.active && (hadApp || hadEmail)) await queueMail(sql, user, { kind: 'secondFactorRemoved', now });
    return { kind: 'removed', sessionsEnded };
  });
}
