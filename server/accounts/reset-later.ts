import { randomUUID } from 'node:crypto';
import { insertAuditEvent } from '../audit/audit-event.ts';
import type { By } from '../audit/audit-events.ts';
import { type Database, rowOrNull } from '../database/database.ts';
import type { DepsWithoutWake } from '../deps.ts';
import { deleteJob, insertJob, type Queue } from '../jobs/job.ts';
import { hour } from '../limits.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { findUserByIdForUpdate } from '../people/portal-user.ts';
import { actOnUser, deletePendingReset, pendingResets, removeTwoFactor, whoseEvent } from './act-on-user.ts';

type ResetLaterResult = { kind: 'nothing' } | { kind: 'begun'; at: Date };

/**
 * Begins the reset of a user's second factor, which takes effect in an hour: whoever has talked support into it for somebody else's
 * account gains nothing as long as the owner reads the mail in time. Asked again it changes nothing; null if the user is unknown.
 */
export async function resetTwoFactorLater(
  sql: Database,
  name: string,
  { now, ...who }: By,
): Promise<ResetLaterResult | null> {
  return await actOnUser(sql, name, async (sql, user): Promise<ResetLaterResult> => {
    const begun = await rowOrNull(sql<{ at: Date }[]>`
      select made_at as at from job where queue = ${pendingResets} and user_id = ${user.id}`);
    if (begun) return { kind: 'begun', ...begun };
    const factors = await sql`
      select from totp where user_id = ${user.id} union all
      select from email_factor where user_id = ${user.id} union all
      select from remembered_device where user_id = ${user.id} limit 1`;
    if (factors.length === 0) return { kind: 'nothing' };
    const at = new Date(now.getTime() + hour);
    const job = { id: randomUUID(), queue: pendingResets, isWaitedFor: false, payload: who, userId: user.id };
    await insertJob(sql, { ...job, madeAt: at });
    const takesEffectAt = at.toISOString();
    const steps = [{ step: 'takes effect', outcome: takesEffectAt }];
    await insertAuditEvent(sql, { event: 'two-factor-reset-begun', ...whoseEvent(user), steps, ...who }, now);
    // Also who is inactive: otherwise whoever deactivates them first would do it unseen.
    await queueMail(sql, user, { kind: 'secondFactorResetSoon', now, takesEffectAt });
    return { kind: 'begun', at };
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
