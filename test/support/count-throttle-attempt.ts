import type { Connection } from '#server/database/database.ts';
import { limitArguments } from '#server/throttle/throttle.ts';
import type { ThrottleKey } from '#server/throttle/throttle-keys.ts';

/** Counts one attempt under a key; false if it has to wait. */
export async function countThrottleAttempt(sql: Connection, { key, limit }: ThrottleKey, now: Date): Promise<boolean> {
  const [row] = await sql<{ admitted: boolean }[]>`
    select throttle_attempt(${key}, null, ${now}, ${limitArguments(sql, limit)}) as admitted`;
  return row?.admitted ?? false;
}
