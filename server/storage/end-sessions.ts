import type { Connection } from './database.ts';
import { deleteInParts } from './delete-in-parts.ts';
import { endedKeptUntil } from './ended-session.ts';
import type { Fragment } from './sso-domain.ts';

/**
 * Locks sessions before a statement that ends several, all in one order, so that two that end the same ones never wait for
 * each other (docs/decisions/0028). A session that gets a new token meanwhile is seen by the next statement only, so this
 * is one of its own, in a transaction. `which` is a condition on `s`.
 */
export async function lockSessions(sql: Connection, which: Fragment): Promise<void> {
  await sql`select from session s where ${which} order by s.token_hash for update of s`;
}

/** Ends every session of a user; returns how many. In their browsers this is no sign-out. Lock the user first. */
export async function deleteSessionsOfUser(sql: Connection, userId: string): Promise<number> {
  await lockSessions(sql, sql`s.user_id = ${userId}`);
  return (await sql`delete from session where user_id = ${userId}`).count;
}

/** Ends every session of a user but one; returns how many. In their browsers this is no sign-out. Lock the user first. */
export async function deleteOtherSessionsOfUser(
  sql: Connection,
  { userId, kept }: { userId: string; kept: Buffer },
): Promise<number> {
  await lockSessions(sql, sql`s.user_id = ${userId}`);
  return (await sql`delete from session where user_id = ${userId} and token_hash <> ${kept}`).count;
}

/**
 * Ends the other sessions of a user: all of them if this one came by password, otherwise those of providers that see no
 * more customers than this one. A provider ends nothing that it could not have opened. Lock the user first.
 */
export async function deleteLesserSessionsOfUser(
  sql: Connection,
  { userId, tokenHash }: { userId: string; tokenHash: Buffer },
): Promise<void> {
  await lockSessions(sql, sql`s.user_id = ${userId}`);
  await sql`
    delete from session other using session own
    where own.token_hash = ${tokenHash} and other.user_id = ${userId} and other.token_hash <> ${tokenHash}
      and (own.connection_id is null
        or other.connection_id is not null and other.customer_ids <@ own.customer_ids)`;
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

/** The same for every session of a user; returns how many. Lock the user first. */
export async function signOutSessionsOfUser(sql: Connection, userId: string, now: Date): Promise<number> {
  return (await signOutSessions(sql, sql`s.user_id = ${userId}`, now)).length;
}

/** The same for one of them, by what hubs know it by. */
export async function signOutSessionOfUser(
  sql: Connection,
  { userId, sid }: { userId: string; sid: string },
  now: Date,
): Promise<number> {
  return (await signOutSessions(sql, sql`(s.user_id = ${userId} and s.id = ${sid})`, now)).length;
}

/** The same for those of a user that a passkey opened, but not `kept`, the session that removes it. Lock the user first. */
export async function signOutSessionsByPasskey(
  sql: Connection,
  { userId, passkeyId, kept }: { userId: string; passkeyId: string; kept: string | null },
  now: Date,
): Promise<number> {
  const isOther = kept ? sql`s.id <> ${kept}` : sql`true`;
  return (await signOutSessions(sql, sql`(s.user_id = ${userId} and s.passkey_id = ${passkeyId} and ${isOther})`, now))
    .length;
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
