import { limits } from '../limits.ts';
import type { Connection } from '../storage/database.ts';
import { listHubKeys } from '../storage/hub-key.ts';

/** When the newest keys were made, and when housekeeping replaces them; null while there are none. */
export async function hubKeyTurn(sql: Connection, now: Date): Promise<{ madeAt: Date; replacedAt: Date } | null> {
  const newest = (await listHubKeys(sql, now)).at(-1);
  return newest ? { madeAt: newest.madeAt, replacedAt: new Date(newest.madeAt.getTime() + limits.hubKeyAge) } : null;
}
