import type { Connection } from './database.ts';

/** The time by the database's clock. */
export async function databaseTime(sql: Connection): Promise<Date> {
  const [row] = await sql<[{ now: Date }]>`select clock_timestamp() as now`;
  return row.now;
}
