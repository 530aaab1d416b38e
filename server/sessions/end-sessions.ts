import type { Connection } from '../database/database.ts';
import { deleteInParts } from '../database/delete-in-parts.ts';
import { rowOrNull } from '../database/row-or-null.ts';
import { mustRegisterOf } from './half-session.ts';
import type { SessionStage } from './session.ts';

/** A session that its browser has ended: its user, and what its provider expects at sign-out. */
export type DeletedSession = {
  userId: string;
  username: string;
  stage: SessionStage;
  /** A half one that was to register its second factor. */
  mustRegister: boolean;
  /** Null for a password. */
  connectionId: string | null;
  sealedIdToken: Buffer | null;
};

/** Ends the session of a token and returns it; null if there is none. */
export async function deleteSession(sql: Connection, tokenHash: Buffer): Promise<DeletedSession | null> {
  return await rowOrNull(sql<DeletedSession[]>`
    delete from session s using portal_user u
    where s.token_hash = ${tokenHash} and u.id = s.user_id
    returning u.id as "userId", u.username, s.stage, ${mustRegisterOf(sql, sql`s`)} as "mustRegister",
      s.connection_id as "connectionId", s.sealed_id_token as "sealedIdToken"`);
}

/**
 * Deletes sessions that have ended at `now`, and full ones unused since `idleSince`; returns how many. One that something
 * else is just ending waits for the next time.
 */
export async function deleteEndedSessions(
  sql: Connection,
  { idleSince, now }: { idleSince: Date; now: Date },
): Promise<number> {
  return await deleteInParts(
    sql,
    'session',
    sql`(ends_at <= ${now} or stage = 'full' and last_seen_at <= ${idleSince})`,
  );
}
