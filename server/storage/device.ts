import type { Connection } from './connect.ts';

/** Makes the browsers that a user signed in from unknown again. */
export async function deleteDevicesOfUser(sql: Connection, userId: string): Promise<void> {
  await sql`delete from device where user_id = ${userId}`;
}

/** Deletes browsers that nobody signed in from since `before`; returns how many. */
export async function deleteStaleDevices(sql: Connection, before: Date): Promise<number> {
  return (await sql`delete from device where last_used_at < ${before}`).count;
}
