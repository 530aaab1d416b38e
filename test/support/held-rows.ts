import { expect, onTestFinished, vi } from 'vitest';
import type { Connection, Database } from '#server/database/database.ts';

/** Keeps rows locked, as a transaction that is slow does, until `release` or the end of the test. */
export async function holdRows(pool: Database, lock: (sql: Connection) => PromiseLike<unknown>) {
  const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = pool.begin(async (sql) => {
    await lock(sql);
    begun.resolve();
    await over.promise;
  });
  await Promise.race([begun.promise, holding]);
  const release = async () => {
    over.resolve();
    await holding;
  };
  onTestFinished(release);
  return release;
}

/** Waits until so many connections wait for a row that another one has locked. */
export async function untilWaiting(pool: Database, count: number): Promise<void> {
  const enough = async () => {
    const waiting = await pool`
      select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    expect(waiting.length).toBeGreaterThanOrEqual(count);
  };
  await vi.waitFor(enough, { timeout: 5000, interval: 10 });
}
