import type { Connection } from './database.ts';

/** Deletes entries too old to matter; returns how many. */
export async function deleteOldEndedSessions(sql: Connection, now: Date): Promise<number> {
  return (await sql`delete from ended_session where ends_at <= ${now}`).count;
}
