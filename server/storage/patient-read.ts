import { limits } from '../limits.ts';
import type { Connection, Database } from './database.ts';

/** Runs a read that may look through a whole large table, for an operator who waits for it: with a longer time limit. */
export async function patientRead<T>(sql: Database, read: (sql: Connection) => Promise<T>): Promise<T> {
  return (await sql.begin(async (sql) => {
    await sql`select set_config('statement_timeout', ${String(limits.operatorWaits)}, true)`;
    return await read(sql);
  })) as T;
}
