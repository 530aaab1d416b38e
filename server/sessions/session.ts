import { codeDigests } from '../crypto/keys.ts';
import { tokenHash } from '../crypto/token.ts';
import type { Connection } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { limits } from '../limits.ts';
import type { Asked } from '../people/sign-in-policy.ts';

export type SessionStage = 'half' | 'full';

/** What a session has proven last; `remembered`: its browser spared the code. */
export type ProofOfSession = 'password' | 'code' | 'passkey' | 'remembered' | 'provider';

/** A live session of a signed-in user, as visible from the request's address. */
export type FullSession = {
  /** Also what hubs know it by; it opens nothing. */
  id: string;
  userId: string;
  /** The session's connection; null for a password. */
  connectionId: string | null;
  username: string;
  email: string;
  name: string | null;
  language: string | null;
  createdAt: Date;
  /** What the session has proven last, and when; null if its provider does not say. */
  proof: ProofOfSession;
  provenAt: Date | null;
  lastSeenAt: Date;
  endsAt: Date;
  /** Keys of the session's customers that are still active, still the user's, admit the address, and take its way in. */
  customers: string[];
  /** The user's groups there, such as `acme:finance`. */
  groups: string[];
};

/** Records that the session was used. Losing a second of it in a crash is harmless: the commit does not wait for the disk. */
export async function updateSessionSeen(sql: Connection, tokenHash: Buffer, now: Date): Promise<void> {
  await sql`
    with quick as materialized (select set_config('synchronous_commit', 'off', true))
    update session set last_seen_at = ${now} from quick where token_hash = ${tokenHash} and last_seen_at < ${now}`;
}

/** Where a session came from, and what its provider expects at sign-out; null if the provider does not say. */
type SessionOrigin = {
  connectionId: string | null;
  sealedIdToken: Buffer | null;
  /** SHA-256 of the subject, and of the provider's name for its session: with these it ends what it began. */
  providerSubjectHash: Buffer | null;
  providerSessionHash: Buffer | null;
  providerEndsAt: Date | null;
};

/** A session to create; `waitsFor` is what a half one waits for, empty for a full one. */
type NewSession = {
  tokenHash: Buffer;
  userId: string;
  waitsFor: readonly Asked[];
  proof: ProofOfSession;
  /** Null if its provider does not say. */
  provenAt: Date | null;
  customerIds: string[];
  address: string;
  browser: string | null;
  passkeyId?: string;
  /** Absent for a password or passkey. */
  origin?: SessionOrigin;
  now: Date;
  endsAt: Date;
};

/**
 * Creates the session of a sign-in, full or half, and ends the user's oldest if there are too many: in a transaction. Returns its id.
 */
export async function insertSession(sql: Connection, session: NewSession): Promise<string> {
  const { tokenHash, userId, waitsFor, address, origin, now } = session;
  const stage: SessionStage = waitsFor.length > 0 ? 'half' : 'full';
  const connectionId = origin?.connectionId ?? null;
  const [row] = await sql<[{ id: string }]>`
    insert into session (token_hash, user_id, stage, waits_for, proof, proven_at, customer_ids, address, browser, passkey_id,
      connection_id, sealed_id_token, provider_subject_hash, provider_session_hash, provider_ends_at,
      created_at, last_seen_at, ends_at)
    values (${tokenHash}, ${userId}, ${stage}, ${waitsFor}::text[], ${session.proof}, ${session.provenAt},
      ${session.customerIds}::uuid[], ${address}, ${session.browser}, ${session.passkeyId ?? null},
      ${connectionId}, ${origin?.sealedIdToken ?? null}, ${origin?.providerSubjectHash ?? null},
      ${origin?.providerSessionHash ?? null}, ${origin?.providerEndsAt ?? null}, ${now}, ${now}, ${session.endsAt})
    returning id`;
  await deleteOldestSessions(sql, { tokenHash, userId, connectionId, stage, address });
  return row.id;
}

/** Locks a session until the transaction ends; false if it is gone. Its user is locked before it, what depends on it after. */
export async function isSessionThereForUpdate(sql: Connection, tokenHash: Buffer): Promise<boolean> {
  return (await sql`select from session where token_hash = ${tokenHash} for update`).length > 0;
}

/** Ends the session that a browser shows the cookie of, if any, before a sign-in there stores its own. */
export async function deleteSessionOfBrowser(sql: Connection, sessionHash: Buffer | null): Promise<void> {
  if (sessionHash !== null) await sql`delete from session where token_hash = ${sessionHash}`;
}

/** Gives a session its next token, and notes what it has proven, if that is something new. */
export async function updateSessionToken(
  sql: Connection,
  { before, after, proof = null, now }: { before: Buffer; after: Buffer; proof?: ProofOfSession | null; now: Date },
): Promise<void> {
  await sql`
    update session set token_hash = ${after}, rotated_at = ${now}, proof = coalesce(${proof}, proof),
      proven_at = case when ${proof}::text is null then proven_at else ${now} end
    where token_hash = ${before}`;
}

/** Binding (additional data) for the provider's proof stored with a session. */
export function idTokenPlace(userId: string): string {
  return `id-token:${userId}`;
}

/** A session's token, and what was given for its next one: a code, a password, or a passkey's answer. */
type Submission = { token: string; given: string };

/**
 * The token by which a session goes on. It is computed from the server's key, the token before and what was given, so that a
 * form that is sent twice finds the session that its first submission made, and the token before alone finds nothing.
 */
export function nextToken(deps: Pick<Deps, 'keys'>, submission: Submission): string {
  return nextTokens(deps, submission)[0] as string;
}

/** The token that the first submission of a form gave to its session within ten seconds; null if none did. */
export async function tokenOfFirstSubmit(deps: Deps, submission: Submission): Promise<string | null> {
  const since = new Date(deps.now().getTime() - limits.repeatedSubmit);
  for (const token of nextTokens(deps, submission)) {
    const rows = await deps.sql`select from session where token_hash = ${tokenHash(token)} and rotated_at > ${since}`;
    if (rows.length > 0) return token;
  }
  return null;
}

/** With the current key and with older ones. */
function nextTokens({ keys }: Pick<Deps, 'keys'>, { token, given }: Submission): string[] {
  return codeDigests(keys.code, given, `next token\n${token}`).map((digest) => digest.toString('base64url'));
}

/**
 * Ends those sessions of a user that were used longest ago, as far as there are too many with the one that was just made. A full
 * session counts against those by the same way in, since a provider ends nothing that it could not have opened; a half one also
 * has to come from the same address, so that somebody elsewhere who knows the password keeps nobody from entering their code.
 */
export async function deleteOldestSessions(
  sql: Connection,
  made: { tokenHash: Buffer; userId: string; connectionId: string | null; stage: 'half' | 'full'; address: string },
): Promise<void> {
  const { tokenHash, userId, connectionId, stage, address } = made;
  const most = stage === 'full' ? limits.sessionsOfUser : limits.halfSessionsOfUser;
  await sql`
    delete from session where id in (
      select id from session
      where user_id = ${userId} and connection_id is not distinct from ${connectionId}::uuid and stage = ${stage}
        and (stage = 'full' or address = ${address}::inet) and token_hash <> ${tokenHash}
      order by last_seen_at desc, created_at desc offset ${most - 1})`;
}
