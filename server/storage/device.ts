import type { Connection } from './connect.ts';

/** Notes a browser that a user signed in from; false when it was known before. */
export async function putDevice(sql: Connection, tokenHash: Buffer, userId: string, now: Date): Promise<boolean> {
  const [row] = await sql<{ isNew: boolean }[]>`
    insert into device (token_hash, user_id, last_used_at) values (${tokenHash}, ${userId}, ${now})
    on conflict (token_hash, user_id) do update set last_used_at = excluded.last_used_at
    returning xmax = 0 as "isNew"`;
  return row?.isNew ?? false;
}

/** Makes the browsers that a user signed in from unknown again. */
export async function deleteDevicesOfUser(sql: Connection, userId: string): Promise<void> {
  await sql`delete from device where user_id = ${userId}`;
}

/** Deletes browsers that nobody signed in from since `before`; returns how many. */
export async function deleteStaleDevices(sql: Connection, before: Date): Promise<number> {
  return (await sql`delete from device where last_used_at < ${before}`).count;
}
