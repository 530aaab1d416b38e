import { minute } from '../limits.ts';
import type { Connection, Database } from './database.ts';

/** Operators wait this long for a list, which may look through millions of rows. */
const operatorWaits = minute;

/**
 * Runs a read that may look through a whole large table, for an operator who waits for it: with a longer time limit, and planned
 * for its very values, so that rare events of few days are not looked for in all.
 */
export async function patientRead<T>(sql: Database, read: (sql: Connection) => Promise<T>): Promise<T> {
  const patiently = async (sql: Connection) => {
    await sql`set local plan_cache_mode = force_custom_plan`;
    return await read(sql);
  };
  return await sql.begin(patiently, { statementTimeout: operatorWaits });
}
