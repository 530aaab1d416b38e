import { limits } from '../limits.ts';
import type { Connection } from './database.ts';
import { deleteInParts } from './delete-in-parts.ts';
import { endedKeptUntil } from './ended-session.ts';
import { endOldestSessions, hasManySessions } from './oldest-sessions.ts';
import type { OpenFactor, Proven } from './second-factor.ts';
import { type Fragment, isInDomains } from './sso-domain.ts';

export type SessionStage = 'half' | 'full';

/** A live session of a signed-in user, as visible from the request's address. */
export type FullSession = {
  userId: string;
  /** What hubs know the session by. */
  sid: string;
  /** The session's connection; null for a password. */
  connectionId: string | null;
  username: string;
  email: string;
  language: string | null;
  createdAt: Date;
  /** When the password was verified, or the provider authenticated the person; null if it does not say. */
  provenAt: Date | null;
  proven: Proven;
  lastSeenAt: Date;
  endsAt: Date;
  /** Keys of the session's customers that are still active, still the user's, admit the address, and take its way in. */
  customers: string[];
  /** The visit to a provider that created it; null for a password. */
  visitId: string | null;
  /** The version of the state that this was read from. */
  accessVersion: number;
};

/** What a hub's token says of a session besides its answer. `sid` is what hubs know it by, and opens nothing. */
export type NamedSession = Pick<FullSession, 'userId' | 'sid' | 'provenAt'>;

/** What is cached of the last full check of a session: its answer. */
export type CheckedSession = NamedSession & { answer: string; lastSeenAt: Date; endsAt: Date };

/** A session and the address that it is presented from. */
export type PresentedSession = { tokenHash: Buffer; address: string };

/**
 * The cached checks of sessions from addresses, in their order; null where there is none or something has changed since.
 * `limit` keeps the planner from reading all sessions when it believes there are few.
 */
export async function findCheckedSessions(
  sql: Connection,
  presented: readonly PresentedSession[],
): Promise<(CheckedSession | null)[]> {
  const hashes = presented.map(({ tokenHash }) => tokenHash.toString('hex'));
  const addresses = presented.map(({ address }) => address);
  const rows = await sql<(CheckedSession & { place: number })[]>`
    select asked.place::int, s.answer, s.last_seen_at as "lastSeenAt", s.ends_at as "endsAt", s.user_id as "userId", s.sid,
      ${provenAt(sql, sql`s`)} as "provenAt"
    from unnest(${hashes}::text[], ${addresses}::inet[]) with ordinality asked (hash, address, place)
    cross join lateral (select * from session where token_hash = decode(asked.hash, 'hex') limit 1) s
    where s.checked_address = asked.address and s.checked_version = (select version from access_version)`;
  const found = new Map(rows.map((row) => [row.place, row]));
  return presented.map((_, index) => found.get(index + 1) ?? null);
}

/** When a session's password was verified, or its provider authenticated the person; null if it does not say. */
export function provenAt(sql: Connection, session: ReturnType<Connection>) {
  return sql`case when ${session}.connection_id is null then ${session}.created_at else ${session}.authenticated_at end`;
}

/** Caches the answer of a full check. */
export async function updateSessionChecked(
  sql: Connection,
  tokenHash: Buffer,
  { answer, address, accessVersion }: { answer: string; address: string; accessVersion: number },
): Promise<void> {
  await sql`
    with quick as materialized (select set_config('synchronous_commit', 'off', true))
    update session set answer = ${answer}, checked_address = ${address}::inet, checked_version = ${accessVersion}
    from quick where token_hash = ${tokenHash}`;
}

/**
 * Records that the session was used. Losing a second of it in a crash is harmless, so the commit does not wait for the
 * disk.
 */
export async function updateSessionSeen(sql: Connection, tokenHash: Buffer, now: Date): Promise<void> {
  await sql`
    with quick as materialized (select set_config('synchronous_commit', 'off', true))
    update session set last_seen_at = ${now} from quick where token_hash = ${tokenHash} and last_seen_at < ${now}`;
}

/**
 * Where a session came from: the connection and the visit, what its provider expects at sign-out, and when the
 * provider's session ends; null for a password, or if the provider does not say.
 */
export type SessionOrigin = {
  connectionId: string | null;
  visitId: string | null;
  sealedIdToken: Buffer | null;
  /** SHA-256 of the subject, and of the provider's name for its session: with these it ends what it began. */
  providerSubjectHash: Buffer | null;
  providerSessionHash: Buffer | null;
  providerEndsAt: Date | null;
  /** When the person authenticated at the provider; null if it does not say. */
  authenticatedAt: Date | null;
};

/** Of the full session that a half one replaced: its connection, null for a password, and its user's proof for it. */
export type ReplacedFull = {
  connectionId: string | null;
  sealedIdToken: Buffer | null;
  subjectHash: Buffer | null;
  sessionHash: Buffer | null;
};

/** A session to create; `waitsFor` is what a half one waits for, null for a full one. */
export type NewSession = {
  tokenHash: Buffer;
  /** Of the half session that it follows. */
  formerTokenHash?: Buffer;
  /** Of the session cookie that it replaces in the browser, whatever that one stood for, or what stands for it. */
  replacedTokenHash?: Buffer | null;
  /** For a half session; null if it replaced no full one. */
  replacedFull?: ReplacedFull | null;
  /** When the form was sent whose second press leads here too. */
  pressAt?: Date | null;
  /** Of the browser, for a half session (sign-in/browser-hash.ts). */
  browserHash?: Buffer;
  userId: string;
  waitsFor: OpenFactor | null;
  proven: Proven;
  customerIds: string[];
  address: string;
  /** As the browser names itself (names/browser-name.ts). */
  browser: string | null;
  /** The passkey that it was opened by. */
  passkeyId?: string;
  /** The request that it is made by, for the event of sessions that it ends. */
  requestId?: string;
  origin: SessionOrigin;
  now: Date;
  endsAt: Date;
};

/**
 * Creates the session that follows a second factor, a passkey or a provider's answer, and ends the user's oldest if there are
 * too many: in a transaction.
 */
export async function insertSession(sql: Connection, session: NewSession): Promise<void> {
  const { tokenHash, replacedTokenHash, userId, waitsFor, address, origin, now } = session;
  const formerTokenHash = session.formerTokenHash ?? replacedTokenHash;
  const full = session.replacedFull ?? null;
  const stage: SessionStage = waitsFor ? 'half' : 'full';
  const way = { userId: sql`${userId}::uuid`, connectionId: origin.connectionId, address };
  const [row] = await sql<{ isMany: boolean }[]>`
    insert into session (token_hash, former_token_hash, replaces, press_at, browser_hash, user_id, stage, factor, must_register, proven, customer_ids, address, browser, connection_id,
      visit_id, sealed_id_token, provider_subject_hash, provider_session_hash, provider_ends_at, authenticated_at, replaced_full, replaced_connection_id, sealed_replaced_id_token,
      replaced_subject_hash, replaced_session_hash, created_at, last_seen_at, ends_at, passkey_id)
    values (${tokenHash}, ${formerTokenHash ?? null}, ${Boolean(replacedTokenHash)}, ${session.pressAt ?? null},
      ${session.browserHash ?? null}, ${userId}, ${stage}, ${waitsFor?.factor ?? null}, ${waitsFor?.mustRegister ?? false},
      ${session.proven}, ${session.customerIds}::uuid[], ${address}, ${session.browser}, ${origin.connectionId},
      ${origin.visitId}, ${origin.sealedIdToken}, ${origin.providerSubjectHash}, ${origin.providerSessionHash}, ${origin.providerEndsAt},
      ${origin.authenticatedAt}, ${full !== null}, ${full?.connectionId ?? null}, ${full?.sealedIdToken ?? null},
      ${full?.subjectHash ?? null}, ${full?.sessionHash ?? null}, ${now}, ${now}, ${session.endsAt}, ${session.passkeyId ?? null})
    returning ${hasManySessions(sql, way)} as "isMany"`;
  if (!row?.isMany) return;
  const { connectionId } = origin;
  const requestId = session.requestId ?? null;
  await endOldestSessions(sql, { tokenHash, userId, connectionId, stage, address, requestId, now });
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
 * Locks a session against being ended or consumed by others until the transaction ends; false if it is gone. To change
 * what depends on a session, lock it first, and its user before that (docs/decisions/0028). Its siblings are locked with
 * it, in the order of every statement that ends them.
 */
export async function isSessionThereForUpdate(sql: Connection, tokenHash: Buffer, now: Date): Promise<boolean> {
  const rows = await sql<{ isOwn: boolean }[]>`
    select token_hash = ${tokenHash} as "isOwn" from session
    where token_hash = ${tokenHash} or ${isSibling(sql, sql`session`, tokenHash, now)}
    order by token_hash for update`;
  return rows.some(({ isOwn }) => isOwn);
}

/** Ends the siblings of a session that gets a new token: by that one, a later sign-out would not find them. */
export async function deleteSiblings(sql: Connection, tokenHash: Buffer, now: Date): Promise<void> {
  await sql`
    delete from session where token_hash <> ${tokenHash} and ${isSibling(sql, sql`session`, tokenHash, now)}`;
}

/**
 * Gives a full session a new token; `pressAt` is when the form was sent whose second press leads here too. By the former one
 * the browser can still end the session while it may not have read the response: later only a copy of it is left.
 */
export async function updateSessionToken(
  sql: Connection,
  { before, after, pressAt, now }: { before: Buffer; after: Buffer; pressAt: Date | null; now: Date },
): Promise<void> {
  await sql`
    update session set token_hash = ${after}, former_token_hash = ${before}, replaces = false, press_at = ${pressAt},
      former_ends_at = ${new Date(now.getTime() + limits.responseUnread)}
    where token_hash = ${before}`;
}

/** Whether a press has given a full session this token since a time, instead of a former one. */
export async function isSessionOfPress(
  sql: Connection,
  { former, own }: { former: Buffer; own: Buffer },
  { since, now }: { since: Date; now: Date },
): Promise<boolean> {
  const rows = await sql`
    select from session where token_hash = ${own} and former_token_hash = ${former} and not replaces
      and stage = 'full' and press_at > ${since} and ends_at > ${now}`;
  return rows.length > 0;
}

/**
 * Ends the other sessions of a user: all of them if this one came by password, otherwise those of providers that see no
 * more customers than this one. A provider ends nothing that it could not have opened.
 */
export async function deleteLesserSessionsOfUser(sql: Connection, userId: string, tokenHash: Buffer): Promise<void> {
  await lockSessions(sql, sql`s.user_id = ${userId}`);
  await sql`
    delete from session other using session own
    where own.token_hash = ${tokenHash} and other.user_id = ${userId} and other.token_hash <> ${tokenHash}
      and (own.connection_id is null
        or other.connection_id is not null and other.customer_ids <@ own.customer_ids)`;
}

/**
 * Locks sessions before a statement that ends several, all in one order, so that two that end the same ones never wait for
 * each other (docs/decisions/0028). A session that gets a new token meanwhile is seen by the next statement only, so this
 * is one of its own, in a transaction. `which` is a condition on `s`.
 */
export async function lockSessions(sql: Connection, which: Fragment): Promise<void> {
  await sql`select from session s where ${which} order by s.token_hash for update of s`;
}

/** Ends every session of a user; returns how many. In their browsers this is no sign-out. */
export async function deleteSessionsOfUser(sql: Connection, userId: string): Promise<number> {
  await lockSessions(sql, sql`s.user_id = ${userId}`);
  return (await sql`delete from session where user_id = ${userId}`).count;
}

/** Ends every session of a user but one; returns how many. In their browsers this is no sign-out. */
export async function deleteOtherSessionsOfUser(sql: Connection, userId: string, kept: Buffer): Promise<number> {
  await lockSessions(sql, sql`s.user_id = ${userId}`);
  return (await sql`delete from session where user_id = ${userId} and token_hash <> ${kept}`).count;
}

/** The same as a sign-out, in every browser of the user. */
export async function signOutSessionsOfUser(sql: Connection, userId: string, now: Date): Promise<number> {
  return (await deleteNoted(sql, sql`s.user_id = ${userId}`, now)).length;
}

/** The same for one session of a user, by what hubs know it by. */
export async function signOutSessionOfUser(
  sql: Connection,
  { userId, sid }: { userId: string; sid: string },
  now: Date,
): Promise<number> {
  return (await deleteNoted(sql, sql`(s.user_id = ${userId} and s.sid = ${sid})`, now)).length;
}

/** The same for those that a passkey opened, but not `kept`, the session that removes it. Lock the user first. */
export async function signOutSessionsByPasskey(
  sql: Connection,
  { userId, passkeyId, kept }: { userId: string; passkeyId: string; kept: Buffer | null },
  now: Date,
): Promise<number> {
  const isOther = kept ? sql`s.token_hash <> ${kept}` : sql`true`;
  return (await deleteNoted(sql, sql`(s.user_id = ${userId} and s.passkey_id = ${passkeyId} and ${isOther})`, now))
    .length;
}

/** Ends sessions as a sign-out in their browsers; returns how many. `which` is a condition on `s`. */
export async function signOutSessions(sql: Connection, which: Fragment, now: Date): Promise<number> {
  return (await deleteNoted(sql, which, now)).length;
}

/** Ends every session of a user from a connection; returns how many. */
export async function deleteSessionsOfUserBy(sql: Connection, userId: string, connectionId: string): Promise<number> {
  await lockSessions(sql, sql`s.user_id = ${userId} and s.connection_id = ${connectionId}`);
  return (await sql`delete from session where user_id = ${userId} and connection_id = ${connectionId}`).count;
}

/**
 * Ends every session of a connection, or only those of users in some domains, those that wait for a second factor too;
 * returns how many. Lock the connection first, so that no sign-in adds one.
 */
export async function deleteSessionsOfConnection(
  sql: Connection,
  connectionId: string,
  domains: readonly string[] | null = null,
): Promise<number> {
  await lockUsersOfConnection(sql, { connectionId, subjectHash: null });
  const isMeant = domains ? isInDomains(sql, sql`session.user_id`, domains) : sql`true`;
  await lockSessions(sql, sql`s.connection_id = ${connectionId}`);
  return (await sql`delete from session where connection_id = ${connectionId} and ${isMeant}`).count;
}

/**
 * Waits for running sign-ins of users that a logout may mean, and blocks new ones: only the next statement sees the
 * sessions they create. Same order as every change of a user: the user first.
 */
async function lockUsersOfConnection(
  sql: Connection,
  given: { connectionId: string; subjectHash: Buffer | null; sessionHash?: Buffer | null },
): Promise<void> {
  const { connectionId, subjectHash } = given;
  const sessionHash = subjectHash === null ? (given.sessionHash ?? null) : null;
  const isMeant = (of: OfProvider) => sql`
    ${of.connection} = ${connectionId} and (${subjectHash}::bytea is null or ${of.subject} = ${subjectHash})
    and (${sessionHash}::bytea is null or ${of.session} = ${sessionHash})`;
  await sql`
    select from portal_user u where u.id in (
      select s.user_id from session s where ${ofEither(sql, isMeant)}
    ) order by u.id for no key update of u`;
}

/** What a provider knows a session by. */
type OfProvider = Record<'connection' | 'subject' | 'session', Fragment>;

/** A condition on a session itself, or on the full one that it replaced. */
function ofEither(sql: Connection, condition: (of: OfProvider) => Fragment) {
  const own = {
    connection: sql`s.connection_id`,
    subject: sql`s.provider_subject_hash`,
    session: sql`s.provider_session_hash`,
  };
  const replaced = {
    connection: sql`s.replaced_connection_id`,
    subject: sql`s.replaced_subject_hash`,
    session: sql`s.replaced_session_hash`,
  };
  return sql`((${condition(own)}) or (${condition(replaced)}))`;
}

/**
 * Ends a connection's sessions of a subject, or of one of the provider's sessions; if both are given, both have to
 * match, or the provider's session has to be unknown. Returns their users, without duplicates.
 */
export async function deleteSessionsOfProvider(
  sql: Connection,
  given: { connectionId: string; subjectHash: Buffer | null; sessionHash: Buffer | null },
  now: Date,
): Promise<{ userId: string; username: string }[]> {
  const { connectionId, subjectHash, sessionHash } = given;
  if (subjectHash === null && sessionHash === null) return [];
  await lockUsersOfConnection(sql, given);
  const isMeant = (of: OfProvider) => sql`
    ${of.connection} = ${connectionId} and (${subjectHash}::bytea is null or ${of.subject} = ${subjectHash})
    and (${sessionHash}::bytea is null or ${of.session} = ${sessionHash}
      or ${subjectHash}::bytea is not null and ${of.session} is null)`;
  return await deleteNoted(sql, ofEither(sql, isMeant), now);
}

/**
 * Ends a SAML connection's sessions of a subject: all of them if no session of the provider is named, otherwise those
 * from a named session and those whose name is unknown. Returns their users, without duplicates.
 */
export async function deleteSessionsOfSamlSubject(
  sql: Connection,
  given: { connectionId: string; subjectHash: Buffer; sessionHashes: readonly Buffer[] },
  now: Date,
): Promise<{ userId: string; username: string }[]> {
  const { connectionId, subjectHash, sessionHashes } = given;
  await lockUsersOfConnection(sql, given);
  const named = sessionHashes.map((hash) => hash.toString('hex'));
  const isMeant = (of: OfProvider) => sql`
    ${of.connection} = ${connectionId} and ${of.subject} = ${subjectHash}
    and (${named.length === 0} or ${of.session} is null or encode(${of.session}, 'hex') = any(${named}::text[]))`;
  return await deleteNoted(sql, ofEither(sql, isMeant), now);
}

/**
 * Deletes sessions that a provider or an operator has ended, and records which of them were full or had replaced a full
 * one: in their browsers this is a sign-out, also if the response with their token was lost. Returns the user of each.
 */
async function deleteNoted(
  sql: Connection,
  which: Fragment,
  now: Date,
): Promise<{ userId: string; username: string }[]> {
  await lockSessions(sql, which);
  return await sql<{ userId: string; username: string }[]>`
    with ended as (
      delete from session s using portal_user u where u.id = s.user_id and ${which}
      returning s.token_hash, s.former_token_hash, s.stage, s.replaced_full, s.ends_at, u.id, u.username
    ), noted as (
      insert into ended_session (token_hash, ends_at)
      select hash, ${endedKeptUntil(sql, sql`ends_at`, now)} from ended, unnest(array[token_hash, former_token_hash]) as hash
      where (stage = 'full' or replaced_full) and hash is not null
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

/** Binding (additional data) for the provider's proof stored with a session. */
export function idTokenPlace(userId: string): string {
  return `id-token:${userId}`;
}

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
 * if that of `unlessSignedOut` was signed out.
 */
export async function keepNewestReplacement(
  sql: Connection,
  replacedTokenHash: Buffer,
  { tokenHash, unlessSignedOut, now }: { tokenHash: Buffer; unlessSignedOut: Buffer | null; now: Date },
): Promise<void> {
  await sql`
    delete from session where token_hash in (
      select older.token_hash from session older where older.former_token_hash = ${replacedTokenHash} and (
        ${isFormerTokenGood(sql, sql`older`, now)} and exists (
        select from session newer where newer.former_token_hash = ${replacedTokenHash} and newer.user_id <> older.user_id
          and (newer.created_at, newer.xmin::text::bigint) > (older.created_at, older.xmin::text::bigint))
        or older.token_hash = ${tokenHash} and exists (
          select from signed_out_session where token_hash = ${unlessSignedOut}))
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

/** Whether a session is there under this token, and within its lifetime. */
export async function isSessionThere(sql: Connection, tokenHash: Buffer, now: Date): Promise<boolean> {
  return (await sql`select from session where token_hash = ${tokenHash} and ends_at > ${now}`).length > 0;
}

/** How many sessions are alive at `now`, by stage; reads the whole table. */
export async function countSessions(
  sql: Connection,
  { idleSince, now }: { idleSince: Date; now: Date },
): Promise<Record<SessionStage, number>> {
  const [row] = await sql<Record<SessionStage, number>[]>`
    select count(*) filter (where stage = 'full') as full, count(*) filter (where stage = 'half') as half
    from session where ends_at > ${now} and last_seen_at > ${idleSince}`;
  return row ?? { full: 0, half: 0 };
}
