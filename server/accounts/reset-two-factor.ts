import { randomUUID } from 'node:crypto';
import { insertAuditEvent } from '../audit/audit-event.ts';
import { type By, whoseEvent } from '../audit/audit-events.ts';
import { type Connection, type Database, rowOrNull } from '../database/database.ts';
import type { DepsWithoutWake } from '../deps.ts';
import { deleteRememberedDevices } from '../factors/devices.ts';
import { deleteEmailFactor } from '../factors/email-code.ts';
import { deleteRecoveryCodes } from '../factors/recovery-codes.ts';
import { deleteTotp } from '../factors/totp.ts';
import { deleteJob, insertJob, type Queue } from '../jobs/job.ts';
import { hour } from '../limits.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { findUserByIdForUpdate, type User } from '../people/portal-user.ts';
import { endSessionsOfUser } from '../sessions/end-sessions.ts';
import { deleteCodeThrottles } from '../throttle/throttle.ts';
import { actOnUser } from './act-on-user.ts';

/** The queue of the resets that are an hour ahead; at most one of a user. */
export const pendingResets = 'factor-reset';

/**
 * Removes every second factor of a user: app, email, recovery codes, remembered devices; ends sessions and notifies the
 * user. The operator has verified who lost a phone: nothing that a visitor does leads here. Null if the user is unknown.
 */
export async function resetTwoFactor(sql: Database, name: string, by: By) {
  return await actOnUser(sql, name, (sql, user) => removeTwoFactor(sql, user, by));
}

/** The same for a user who is locked. */
async function removeTwoFactor(sql: Connection, user: User, { now, ...who }: By) {
  const { id: userId } = user;
  await deletePendingReset(sql, userId);
  const hadApp = await deleteTotp(sql, userId);
  const hadEmail = await deleteEmailFactor(sql, userId);
  const devices = await deleteRememberedDevices(sql, userId);
  await deleteRecoveryCodes(sql, userId);
  await deleteCodeThrottles(sql, userId);
  if (!hadApp && !hadEmail && devices === 0) return { kind: 'nothing' } as const;
  const sessionsEnded = await endSessionsOfUser(sql, userId);
  const removed = [hadApp && 'app', hadEmail && 'email'].filter(Boolean).join(', ');
  const steps = [
    { step: 'removed', outcome: removed || 'devices only' },
    { step: 'devices forgotten', outcome: String(devices) },
    { step: 'sessions ended', outcome: String(sessionsEnded) },
  ];
  await insertAuditEvent(sql, { event: 'two-factor-reset', ...whoseEvent(user), steps, ...who }, now);
  if (removed) await queueMail(sql, user, { kind: 'secondFactorRemoved', now });
  return { kind: 'removed', sessionsEnded } as const;
}

/**
 * Begins the reset of a user's second factor, which takes effect in an hour: whoever has talked support into it for somebody else's
 * account gains nothing as long as the owner reads the mail in time. Asked again it changes nothing; null if the user is unknown.
 */
export async function resetTwoFactorLater(sql: Database, name: string, by: By) {
  const { now, ...who } = by;
  return await actOnUser(sql, name, async (sql, user) => {
    const begun = await rowOrNull(sql<{ at: Date }[]>`
      select made_at as at from job where queue = ${pendingResets} and user_id = ${user.id}`);
    if (begun) return { kind: 'begun', ...begun } as const;
    const factors = await sql`
      select from totp where user_id = ${user.id} union all
      select from email_factor where user_id = ${user.id} union all
      select from remembered_device where user_id = ${user.id} limit 1`;
    if (factors.length === 0) return { kind: 'nothing' } as const;
    const at = new Date(now.getTime() + hour);
    const job = { id: randomUUID(), queue: pendingResets, isWaitedFor: false, payload: who, userId: user.id };
    await insertJob(sql, { ...job, madeAt: at });
    const takesEffectAt = at.toISOString();
    const steps = [{ step: 'takes effect', outcome: takesEffectAt }];
    await insertAuditEvent(sql, { event: 'two-factor-reset-begun', ...whoseEvent(user), steps, ...who }, now);
    // Also who is inactive: otherwise whoever deactivates them first would do it unseen.
    await queueMail(sql, user, { kind: 'secondFactorResetSoon', now, takesEffectAt });
    return { kind: 'begun', at } as const;
  });
}

/** Calls off the reset of a user's second factor, and records it; false if there is none, null if the user is unknown. */
export async function keepTwoFactor(sql: Database, name: string, { now, ...who }: By): Promise<boolean | null> {
  return await actOnUser(sql, name, async (sql, user) => {
    if (!(await deletePendingReset(sql, user.id))) return false;
    await insertAuditEvent(sql, { event: 'two-factor-reset-kept', ...whoseEvent(user), ...who }, now);
    return true;
  });
}

/** The resets whose hour is over: each is done as by whoever asked for it. */
export function factorResetQueue({ sql, now }: DepsWithoutWake): Queue<Omit<By, 'now'>> {
  return {
    name: pendingResets,
    atOnce: 1,
    async perform({ id, payload, userId }) {
      await sql.begin(async (sql) => {
        const user = userId && (await findUserByIdForUpdate(sql, userId));
        // Somebody may have kept it just now, or another instance has done it.
        if (user && (await deleteJob(sql, id))) await removeTwoFactor(sql, user, { ...payload, now: now() });
      });
      return 'done';
    },
    async giveUp(sql, { payload, userId }) {
      const event = { event: 'two-factor-reset-kept', ...(userId && { userId }), ...payload } as const;
      await insertAuditEvent(sql, { ...event, steps: [{ step: 'given up', outcome: 'not done within a day' }] }, now());
    },
  };
}

/** Calls off the reset that is ahead; whether there was one. */
export async function deletePendingReset(sql: Connection, userId: string): Promise<boolean> {
  return (await sql`delete from job where queue = ${pendingResets} and user_id = ${userId}`).count > 0;
}
