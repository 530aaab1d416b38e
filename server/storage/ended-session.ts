import { limits } from '../limits.ts';
import type { Connection } from './database.ts';
import { deleteInParts } from './delete-in-parts.ts';

/**
 * How long a session that ends now is remembered: until it would have ended by itself, and at least as long as its
 * browser's next sign-in asks the provider to authenticate afresh.
 */
export function endedKeptUntil(sql: Connection, sessionEndsAt: ReturnType<Connection>, now: Date) {
  return sql`greatest(${sessionEndsAt}, ${new Date(now.getTime() + limits.askedAfresh)}::timestamptz)`;
}

/** Whether a sign-out ended the turn of a browser that has these marks (visitor/mark-hashes.ts). */
export async function isEndedTurn(sql: Connection, markHash: Buffer, now: Date): Promise<boolean> {
  return (await sql`select from ended_session where token_hash = ${markHash} and ends_at > ${now}`).length > 0;
}

/** Notes that the turn of a browser with these marks, or with this session cookie, is over, in case it does not read the response. */
export async function putEndedTurn(sql: Connection, hashes: readonly Buffer[], now: Date): Promise<void> {
  await sql`
    insert into ended_session (token_hash, ends_at)
    select digest, ${new Date(now.getTime() + limits.askedAfresh)}::timestamptz from unnest(${hashes}::bytea[]) digest
    on conflict do nothing`;
}

/** Deletes entries too old to matter; returns how many. */
export async function deleteOldEndedSessions(sql: Connection, now: Date): Promise<number> {
  return await deleteInParts(sql, 'ended_session', sql`ends_at <= ${now}`);
}
