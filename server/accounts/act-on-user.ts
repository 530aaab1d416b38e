import { insertAuditEvent } from '../audit/audit-event.ts';
import type { By } from '../audit/audit-events.ts';
import type { Connection, Database } from '../database/database.ts';
import { deleteRememberedDevices } from '../factors/devices.ts';
import { deleteEmailFactor } from '../factors/email-code.ts';
import { deleteRecoveryCodes } from '../factors/recovery-codes.ts';
import { deleteTotp } from '../factors/totp.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { foldLoginName } from '../names/read-name.ts';
import { deleteUser, findUserForUpdate, type User } from '../people/portal-user.ts';
import { endSessionsOfUser } from '../sessions/end-sessions.ts';
import { deleteCodeThrottles, deleteThrottlesOfUser } from '../throttle/throttle.ts';

/** Does something to the user with a username or email, whose row is locked first; null if the user is unknown. */
async function actOnUser<T>(
  sql: Database,
  name: string,
  act: (sql: Connection, user: User) => Promise<T>,
): Promise<T | null> {
  return await sql.begin(async (sql) => {
    const user = await findUserForUpdate(sql, foldLoginName(name));
    return user && (await act(sql, user));
  });
}

/** Ends the waits that failed sign-ins caused for a user's account, and records it; null if the user is unknown. */
export async function unlockUser(sql: Database, name: string, { now, ...who }: By): Promise<boolean | null> {
  return await actOnUser(sql, name, async (sql, { id: userId, username }) => {
    await deleteThrottlesOfUser(sql, userId);
    await deleteCodeThrottles(sql, userId);
    await insertAuditEvent(sql, { event: 'user-unlocked', userId, username, ...who }, now);
    return true;
  });
}

/**
 * Ends every session of a user, half ones included, or only the one with an id, and records it. Returns how many; null if the
 * user is unknown.
 */
export async function signOutUser(
  sql: Database,
  name: string,
  { now, ...who }: By,
  id: string | null = null,
): Promise<number | null> {
  return await actOnUser(sql, name, async (sql, { id: userId, username }) => {
    const ended = await endSessionsOfUser(sql, userId, { id });
    if (id !== null && ended === 0) return 0;
    const steps = [
      ...(id === null ? [] : [{ step: 'session', outcome: id }]),
      { step: 'sessions ended', outcome: String(ended) },
    ];
    await insertAuditEvent(sql, { event: 'user-signed-out', userId, username, steps, ...who }, now);
    return ended;
  });
}

type ResetTwoFactorResult = { kind: 'notFound' } | { kind: 'nothing' } | { kind: 'removed'; sessionsEnded: number };

/**
 * Removes every second factor of a user: app, email, recovery codes, remembered devices; ends sessions and notifies the
 * user. The operator has verified who lost a phone: nothing that a visitor does leads here.
 */
export async function resetTwoFactor(sql: Database, name: string, { now, ...who }: By): Promise<ResetTwoFactorResult> {
  const done = await actOnUser(sql, name, async (sql, user): Promise<ResetTwoFactorResult> => {
    const { id: userId, username } = user;
    const hadApp = await deleteTotp(sql, userId);
    const hadEmail = await deleteEmailFactor(sql, userId);
    const devices = await deleteRememberedDevices(sql, userId);
    await deleteRecoveryCodes(sql, userId);
    await deleteCodeThrottles(sql, userId);
    if (!hadApp && !hadEmail && devices === 0) return { kind: 'nothing' };
    const sessionsEnded = await endSessionsOfUser(sql, userId);
    const removed = [hadApp && 'app', hadEmail && 'email'].filter(Boolean).join(', ');
    const steps = [
      { step: 'removed', outcome: removed || 'devices only' },
      { step: 'devices forgotten', outcome: String(devices) },
      { step: 'sessions ended', outcome: String(sessionsEnded) },
    ];
    await insertAuditEvent(sql, { event: 'two-factor-reset', userId, username, steps, ...who }, now);
    if (user.active && removed) await queueMail(sql, user, { kind: 'secondFactorRemoved', now });
    return { kind: 'removed', sessionsEnded };
  });
  return done ?? { kind: 'notFound' };
}

/** Removes a user with sessions and memberships, and records it; null if unknown. */
export async function removeUser(sql: Database, name: string, { now, ...who }: By): Promise<boolean | null> {
  return await actOnUser(sql, name, async (sql, { id: userId, username }) => {
    await deleteUser(sql, userId);
    await insertAuditEvent(sql, { event: 'user-removed', userId, username, ...who }, now);
    return true;
  });
}
