import type { ThrottleKey } from '../throttle/throttle-keys.ts';
import type { Connection } from './connect.ts';

/** The columns of a limit as `throttle_attempt` takes them, in seconds. */
export function throttleColumns(keys: readonly ThrottleKey[]) {
  return {
    keys: keys.map(({ key }) => key),
    free: keys.map(({ limit }) => limit.freeFailures),
    leak: keys.map(({ limit }) => limit.leakEvery / 1000),
    first: keys.map(({ limit }) => limit.firstWait / 1000),
    longest: keys.map(({ limit }) => limit.longestWait / 1000),
  };
}

/** Counts one attempt under a key; false when it has to wait. */
export async function countThrottleAttempt(sql: Connection, { key, limit }: ThrottleKey, now: Date): Promise<boolean> {
  const [row] = await sql<{ admitted: boolean }[]>`
    select throttle_attempt(${key}, null, ${now}, ${limit.freeFailures}, ${limit.leakEvery / 1000},
      ${limit.firstWait / 1000}, ${limit.longestWait / 1000}) as admitted`;
  return row?.admitted ?? false;
}

/** Forgets the failures under these keys. */
export async function deleteThrottle(sql: Connection, keys: readonly string[]): Promise<void> {
  await sql`delete from throttle where key = any(${keys as string[]}::text[])`;
}

/**
 * Deletes rows that were not touched since `before` and keep nobody waiting at `now`; returns how many. Rows in use are
 * left for the next time, so that no sign-in waits for this and this for no sign-in.
 */
export async function deleteStaleThrottles(sql: Connection, before: Date, now: Date): Promise<number> {
  const rows = await sql`
    delete from throttle where key in (
      select key from throttle where changed_at < ${before} and coalesce(blocked_until < ${now}, true)
      for update skip locked
    )`;
  return rows.count;
}
