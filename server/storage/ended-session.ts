import type { Connection } from './database.ts';

/** Whether a provider's logout ended the session behind a token hash. */
export async function isSessionEndedByProvider(sql: Connection, tokenHash: Buffer, now: Date): Promise<boolean> {
  const rows = await sql`select from ended_session where token_hash = ${tokenHash} and ends_at > ${now}`;
  return rows.length > 0;
}

/** Deletes entries too old to matter; returns how many. */
export async function deleteOldEndedSessions(sql: Connection, now: Date): Promise<number> {
  return (await sql`delete from ended_session where ends_at <= ${now}`).count;
}
