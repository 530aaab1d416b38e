import type { Connection } from './database.ts';
import { deleteInParts } from './delete-in-parts.ts';
import { mustRegisterNow } from './email-before-app.ts';
import { endedKeptUntil } from './ended-session.ts';
import { rowOrNull } from './row-or-null.ts';
import type { SessionStage } from './session.ts';
import type { Fragment } from './sso-domain.ts';

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
    returning u.id as "userId", u.username, s.stage, ${mustRegisterNow(sql, sql`s`)} as "mustRegister",
      s.connection_id as "connectionId", s.sealed_id_token as "sealedIdToken"`);
}

/**
 * Locks sessions before a statement that ends several, all in one order, so that two that end the same ones never wait for
 * each other (docs/decisions/0028). A session that gets a new token meanwhile is seen by the next statement only, so this
 * is one of its own, in a transaction. `which` is a condition on `s`.
 */
export async function lockSessions(sql: Connection, which: Fragment): Promise<void> {
  await sql`select from session s where ${which} order by s.token_hash for update of s`;
}

/**
 * Ends sessions as a sign-out in their browsers, also if the response with their token was lost, and records them. Returns the
 * user of each. `which` is a condition on `s`.
 */
export async function signOutSessions(
  sql: Connection,
  which: Fragment,
  now: Date,
): Promise<{ userId: string; username: string }[]> {
  await lockSessions(sql, which);
  return await sql<{ userId: string; username: string }[]>`
    with ended as (
      delete from session s using portal_user u where u.id = s.user_id and ${which}
      returning s.token_hash, s.former_token_hash, s.ends_at, u.id, u.username
    ), noted as (
      insert into ended_session (token_hash, ends_at)
      select hash, ${endedKeptUntil(sql, sql`ends_at`, now)} from ended, unnest(array[token_hash, former_token_hash]) as hash
      where hash is not null
      on conflict do nothing
    )
    select id as "userId", username from ended`;
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
