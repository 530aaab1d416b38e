import type { Connection } from './connect.ts';

/** Deletes browsers that nobody signed in from since `before`; returns how many. */
export async function deleteStaleDevices(sql: Connection, before: Date): Promise<number> {
  return (await sql`delete from device where last_used_at < ${before}`).count;
}
