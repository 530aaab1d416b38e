import { randomUUID } from 'node:crypto';
import type { Connection } from '../database/database.ts';
import { insertJob } from '../jobs/job.ts';
import { limits } from '../limits.ts';
import { countAttempt } from '../throttle/throttle.ts';
import type { ThrottleKey } from '../throttle/throttle-keys.ts';

export const resetQueueName = 'reset-request';

/** A request for a link, before its name is looked up. */
export type ResetRequest = {
  fold: string;
  /** Of the page on which it was asked; the user's own comes first. */
  language: string;
  address: string;
  requestId: string;
  /** The page that the requester wanted, as judged; null for the default. */
  destination: string | null;
};

/**
 * Counts a request under its keys and keeps it, by statements that are the same for every name. If a limit is reached, returns
 * until when the sender has to wait; then nothing is kept. If only everybody's is, a browser that is known for the name need
 * not wait, as at the sign-in.
 */
export async function insertResetRequest(
  sql: Connection,
  request: ResetRequest,
  { own, total }: { own: readonly ThrottleKey[]; total: ThrottleKey },
  { deviceHash, now }: { deviceHash: Buffer | null; now: Date },
): Promise<Date | null> {
  const ownWait = await countAttempt(sql, own, now);
  if (ownWait) return ownWait;
  const totalWait = await countAttempt(sql, [total], now);
  if (totalWait && !(deviceHash && (await isNameOfDevice(sql, { deviceHash, fold: request.fold, now }))))
    return totalWait;
  await insertJob(sql, { id: randomUUID(), queue: resetQueueName, isWaitedFor: true, payload: request, madeAt: now });
  return null;
}

/**
 * Whether a user who signed in by password in this browser before has this name. Found by the browser, not by the name, of
 * which the time would tell whether a user has it.
 */
async function isNameOfDevice(
  sql: Connection,
  { deviceHash, fold, now }: { deviceHash: Buffer; fold: string; now: Date },
): Promise<boolean> {
  const since = new Date(now.getTime() - limits.deviceLifetime);
  const names = await sql<{ fold: string }[]>`
    select n.fold from device d join login_name n on n.user_id = d.user_id
    where d.token_hash = ${deviceHash} and d.by_password and d.last_used_at > ${since}`;
  return names.some((name) => name.fold === fold);
}
