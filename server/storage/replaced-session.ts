import { limits } from '../limits.ts';
import type { Connection } from './database.ts';

/** Of the full session that a half one replaced: its connection, null for a password, and its user's proof for it. */
export type ReplacedFull = {
  connectionId: string | null;
  sealedIdToken: Buffer | null;
  subjectHash: Buffer | null;
  sessionHash: Buffer | null;
};

/**
 * A condition: the former token of a session still leads to it. Its own from before a code always does; one that it has
 * replaced, or had before it got another, while the browser may not have read the response.
 */
export function isFormerTokenGood(sql: Connection, session: ReturnType<Connection>, now: Date) {
  const unreadSince = new Date(now.getTime() - limits.responseUnread);
  return sql`(not ${session}.replaces and coalesce(${session}.former_ends_at > ${now}, true)
    or ${session}.replaces and ${session}.created_at > ${unreadSince})`;
}

/**
 * A condition: sessions that came after the same token as this one, such as by the second submit of a form, or by a code
 * and by a sign-in in another tab: the browser may read either response last.
 */
export function isSibling(sql: Connection, session: ReturnType<Connection>, tokenHash: Buffer | null, now: Date) {
  return sql`(${isFormerTokenGood(sql, session, now)} and ${session}.former_token_hash = (
    select own.former_token_hash from session own where own.token_hash = ${tokenHash}))`;
}

/** Ends the siblings of a session that gets a new token: by that one, a later sign-out would not find them. */
export async function deleteSiblings(sql: Connection, tokenHash: Buffer, now: Date): Promise<void> {
  await sql`
    delete from session where token_hash <> ${tokenHash} and ${isSibling(sql, sql`session`, tokenHash, now)}`;
}

/**
 * A query: the full session that a half one is about to replace, one row or none: under this token, or what a first press
 * of the same button has replaced it with. A half session hands on what it has replaced itself. The provider's proof, and
 * whom it signs out, are only for the same user. `idleSince`: those last used before it count as ended.
 */
export function replacedFull(
  sql: Connection,
  { tokenHash, userId, now, idleSince }: { tokenHash: Buffer | null; userId: string; now: Date; idleSince: Date },
) {
  return sql`
    select case when stage = 'full' then connection_id else replaced_connection_id end as connection_id,
      case when user_id <> ${userId} then null when stage = 'full' then sealed_id_token else sealed_replaced_id_token end as sealed_id_token,
      case when user_id <> ${userId} then null when stage = 'full' then provider_subject_hash else replaced_subject_hash end as subject_hash,
      case when user_id <> ${userId} then null when stage = 'full' then provider_session_hash else replaced_session_hash end as session_hash
    from session where ends_at > ${now} and (stage = 'full' and last_seen_at > ${idleSince} or replaced_full)
      and (token_hash = ${tokenHash} or former_token_hash = ${tokenHash} and ${isFormerTokenGood(sql, sql`session`, now)})
    order by token_hash = ${tokenHash} desc limit 1`;
}

/** The same, read before a provider's sign-in ends it. */
export async function findReplacedFull(
  sql: Connection,
  by: Parameters<typeof replacedFull>[1],
): Promise<ReplacedFull | null> {
  const [row] = await sql<ReplacedFull[]>`
    select connection_id as "connectionId", sealed_id_token as "sealedIdToken", subject_hash as "subjectHash",
      session_hash as "sessionHash"
    from (${replacedFull(sql, by)}) found`;
  return row ?? null;
}

/**
 * A condition: what a sign-in ends whose browser presents this token. That is the token's session with its siblings, and
 * one that another user's sign-in has replaced it with, whose response the browser has not read yet: read later, it would
 * make this browser that person's (docs/decisions/0028).
 */
function isReplacedBySignIn(
  sql: Connection,
  { tokenHash, userId, now }: { tokenHash: Buffer | null; userId: string; now: Date },
) {
  return sql`(session.token_hash = ${tokenHash} or ${isSibling(sql, sql`session`, tokenHash, now)} or session.former_token_hash = ${tokenHash}
    and session.user_id <> ${userId} and ${isFormerTokenGood(sql, sql`session`, now)})`;
}

/** What a sign-in ends, locked in one order, so that two that end the same sessions never wait for each other. */
export function replacedBySignIn(sql: Connection, by: Parameters<typeof isReplacedBySignIn>[1]) {
  return sql`select token_hash from session where ${isReplacedBySignIn(sql, by)} order by token_hash for update`;
}

/**
 * Ends what a sign-in replaces, before its own session is stored. Returns whether that was another user's full session
 * which this browser may not know yet; `idleSince`: those last used before it count as ended.
 */
export async function deleteReplacedSessions(
  sql: Connection,
  by: { tokenHash: Buffer; userId: string; now: Date; idleSince: Date },
): Promise<boolean> {
  const others = await sql<{ isOther: boolean }[]>`
    delete from session where token_hash in (${replacedBySignIn(sql, by)})
    returning token_hash <> ${by.tokenHash} and user_id <> ${by.userId}
      and stage = 'full' and ends_at > ${by.now} and last_seen_at > ${by.idleSince} as "isOther"`;
  return others.some(({ isOther }) => isOther);
}

/**
 * Of the sessions of several users that replaced one token, keeps those of the newest. Sign-ins at the same moment don't
 * see each other, nor a sign-out, so each does this once its session is stored, and the last sees them all. Ends its own
 * if that of `unlessSignedOut` was signed out, or what has replaced the token since `now`, when its request began.
 */
export async function keepNewestReplacement(
  sql: Connection,
  replacedTokenHash: Buffer,
  { tokenHash, unlessSignedOut, now }: { tokenHash: Buffer; unlessSignedOut: Buffer | null; now: Date },
): Promise<void> {
  const signedOutSince = new Date(now.getTime() + limits.signOutKept);
  await sql`
    delete from session where token_hash in (
      select older.token_hash from session older where older.former_token_hash = ${replacedTokenHash} and (
        ${isFormerTokenGood(sql, sql`older`, now)} and exists (
        select from session newer where newer.former_token_hash = ${replacedTokenHash} and newer.user_id <> older.user_id
          and (newer.created_at, newer.xmin::text::bigint) > (older.created_at, older.xmin::text::bigint))
        or older.token_hash = ${tokenHash} and exists (
          select from signed_out_session where token_hash = ${unlessSignedOut}
            or token_hash = ${replacedTokenHash} and ends_at > ${signedOutSince}
          union all select from ended_session where token_hash = ${unlessSignedOut}))
      order by older.token_hash for update of older)`;
}

/** Whose full session has replaced a token, in a browser that may not know yet; null if none has. */
export async function findUserOfReplacement(
  sql: Connection,
  tokenHash: Buffer,
  now: Date,
): Promise<{ userId: string; username: string } | null> {
  const [row] = await sql<{ userId: string; username: string }[]>`
    select u.id as "userId", u.username from session s join portal_user u on u.id = s.user_id
    where s.former_token_hash = ${tokenHash} and s.replaces and ${isFormerTokenGood(sql, sql`s`, now)}
      and s.stage = 'full' and s.ends_at > ${now} and u.active
    order by s.created_at desc limit 1`;
  return row ?? null;
}
