import { minute } from '../limits.ts';
import type { Connection, Database } from './database.ts';

/** How many obsolete rows a statement deletes at most. */
export const deletedAtOnce = 20_000;

/** Deletes the rows that meet a condition, so many in each statement: it has a time limit. Locked ones stay; returns how many. */
export async function deleteInParts(
  sql: Connection,
  table: string,
  condition: ReturnType<Connection>,
): Promise<number> {
  for (let deleted = 0; ; ) {
    const { count } = await sql`
      delete from ${sql(table)} where ctid = any(array(
        select ctid from ${sql(table)} where ${condition} limit ${deletedAtOnce} for update skip locked))`;
    deleted += count;
    if (count < deletedAtOnce) return deleted;
  }
}

/** Operators wait this long for a list, which may look through millions of rows. */
const operatorWaits = minute;

/** Runs a read through a large table: with an operator's time, and planned for its very values, which may be rare. */
export async function patientRead<T>(
  sql: Database,
  read: (sql: Connection) => PromiseLike<T>,
  statementTimeout = operatorWaits,
): Promise<T> {
  const patiently = async (sql: Connection) => {
    await sql`set local plan_cache_mode = force_custom_plan`;
    return await read(sql);
  };
  return await sql.begin(patiently, { statementTimeout });
}
