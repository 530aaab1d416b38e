import { insertAuditEvent } from '../audit/audit-event.ts';
import { type By, customersOfEvent } from '../audit/audit-events.ts';
import type { Connection, Database } from '../database/database.ts';
import { deleteRememberedDevices } from '../factors/devices.ts';
import { deleteEmailFactor } from '../factors/email-code.ts';
import { deleteRecoveryCodes } from '../factors/recovery-codes.ts';
import { deleteTotp } from '../factors/totp.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { foldLoginName } from '../names/read-name.ts';
import { deleteUser, findUserForUpdate, isLastOperator, type User } from '../people/portal-user.ts';
import { endSessionsOfUser } from '../sessions/end-sessions.ts';
import { deleteCodeThrottles, deleteThrottlesOfUser } from '../throttle/throttle.ts';

/** Does something to the user with a username or email, whose row is locked first; null if the user is unknown. */
export async function actOnUser<T>(
  sql: Database,
  name: string,
  act: (sql: Connection, user: User) => Promise<T>,
): Promise<T | null> {
  return await sql.begin(async (sql) => {
    const user = await findUserForUpdate(sql, foldLoginName(name));
    return user && (await act(sql, user));
  });
}

/** Of whom an event is. */
export function whoseEvent({ id, username, customers }: Pick<User, 'id' | 'username' | 'customers'>) {
  return { userId: id, username, ...customersOfEvent(customers) };
}

/** Ends the waits that failed sign-ins caused for a user's account, and records it; null if the user is unknown. */
export async function unlockUser(sql: Database, name: string, { now, ...who }: By): Promise<boolean | null> {
  return await actOnUser(sql, name, async (sql, user) => {
    await deleteThrottlesOfUser(sql, user.id);
    await deleteCodeThrottles(sql, user.id);
    await insertAuditEvent(sql, { event: 'user-unlocked', ...whoseEvent(user), ...who }, now);
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
  return await actOnUser(sql, name, async (sql, user) => {
    const ended = await endSessionsOfUser(sql, user.id, { id });
    if (id !== null && ended === 0) return 0;
    const steps = [
      ...(id === null ? [] : [{ step: 'session', outcome: id }]),
      { step: 'sessions ended', outcome: String(ended) },
    ];
    await insertAuditEvent(sql, { event: 'user-signed-out', ...whoseEvent(user), steps, ...who }, now);
    return ended;
  });
}

/** The queue of the resets that are an hour ahead (reset-later.ts); at most one of a user. */
export const pendingResets = 'factor-reset';

/** Whether there was one. */
export async function deletePendingReset(sql: Connection, userId: string): Promise<boolean> {
  return (await sql`delete from job where queue = ${pendingResets} and user_id = ${userId}`).count > 0;
}

type ResetTwoFactorResult = { kind: 'nothing' } | { kind: 'removed'; sessionsEnded: number };

/**
 * Removes every second factor of a user: app, email, recovery codes, remembered devices; ends sessions and notifies the
 * user. The operator has verified who lost a phone: nothing that a visitor does leads here. Null if the user is unknown.
 */
export async function resetTwoFactor(sql: Database, name: string, by: By): Promise<ResetTwoFactorResult | null> {
  return await actOnUser(sql, name, (sql, user) => removeTwoFactor(sql, user, by));
}

/** The same for a user who is locked. */
export async function removeTwoFactor(sql: Connection, user: User, { now, ...who }: By): Promise<ResetTwoFactorResult> {
  const { id: userId } = user;
  await deletePendingReset(sql, userId);
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
  await insertAuditEvent(sql, { event: 'two-factor-reset', ...whoseEvent(user), steps, ...who }, now);
  if (removed) await queueMail(sql, user, { kind: 'secondFactorRemoved', now });
  return { kind: 'removed', sessionsEnded };
}

/** Removes a user with sessions and memberships, and records it; false for the last operator, null if unknown. */
export async function removeUser(sql: Database, name: string, { now, ...who }: By): Promise<boolean | null> {
  return await actOnUser(sql, name, async (sql, user) => {
    if (await isLastOperator(sql, user)) return false;
    await deleteUser(sql, user.id);
    await insertAuditEvent(sql, { event: 'user-removed', ...whoseEvent(user), ...who }, now);
    return true;
  });
}
