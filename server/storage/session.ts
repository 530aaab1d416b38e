import { randomUUID } from 'node:crypto';
import { limits } from '../limits.ts';
import type { Connection } from './database.ts';
import { deleteOldestSessions } from './oldest-sessions.ts';
import type { OpenFactor, Proven } from './second-factor.ts';

export type SessionStage = 'half' | 'full';

/** What a session has proven last; `remembered`: its browser spared the code. */
export type ProofOfSession = 'password' | 'code' | 'passkey' | 'remembered' | 'provider';

/** Notes what a session has proven, and when. */
export async function putProof(sql: Connection, sessionId: string, proof: ProofOfSession, now: Date): Promise<void> {
  await sql`update session set proof = ${proof}, proven_at = ${now} where id = ${sessionId}`;
}

/** Ends what passkeys have proven in a user's sessions, but not in `kept`, the session that removes one. */
export async function endProofsByPasskey(sql: Connection, userId: string, kept: string | null): Promise<void> {
  await sql`
    update session set proven_at = null
    where user_id = ${userId} and proof = 'passkey' and id is distinct from ${kept}::uuid`;
}

/** A live session of a signed-in user, as visible from the request's address. */
export type FullSession = {
  /** Also what hubs know it by; it opens nothing. */
  id: string;
  userId: string;
  /** The session's connection; null for a password. */
  connectionId: string | null;
  username: string;
  email: string;
  language: string | null;
  createdAt: Date;
  /** What the session has proven last, and when; null if its provider does not say. */
  proof: ProofOfSession;
  provenAt: Date | null;
  proven: Proven;
  lastSeenAt: Date;
  endsAt: Date;
  /** Keys of the session's customers that are still active, still the user's, admit the address, and take its way in. */
  customers: string[];
};

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
 * Where a session came from: the connection, what its provider expects at sign-out, and when the
 * provider's session ends; null for a password, or if the provider does not say.
 */
export type SessionOrigin = {
  connectionId: string | null;
  sealedIdToken: Buffer | null;
  /** SHA-256 of the subject, and of the provider's name for its session: with these it ends what it began. */
  providerSubjectHash: Buffer | null;
  providerSessionHash: Buffer | null;
  providerEndsAt: Date | null;
  /** When the person authenticated at the provider; null if it does not say. */
  authenticatedAt: Date | null;
};

/** Of a session by password or passkey. */
export const noProvider: SessionOrigin = {
  connectionId: null,
  sealedIdToken: null,
  providerSubjectHash: null,
  providerSessionHash: null,
  providerEndsAt: null,
  authenticatedAt: null,
};

/** A session to create; `waitsFor` is what a half one waits for, null for a full one. */
export type NewSession = {
  /** Random unless what belongs to it is stored before it. */
  id?: string;
  tokenHash: Buffer;
  /** Of the half session that it follows. */
  formerTokenHash?: Buffer;
  /** When the form was sent whose second press leads here too. */
  pressAt?: Date | null;
  /** That press as one of a half session's own, which counts as no attempt there (two-factor/press.ts). */
  openedByPress?: Buffer | null;
  userId: string;
  waitsFor: OpenFactor | null;
  proven: Proven;
  proof: ProofOfSession;
  /** Null if its provider does not say. */
  provenAt: Date | null;
  customerIds: string[];
  address: string;
  /** As the browser names itself (names/browser-name.ts). */
  browser: string | null;
  /** The passkey that it was opened by. */
  passkeyId?: string;
  origin: SessionOrigin;
  now: Date;
  endsAt: Date;
};

/**
 * Creates the session that follows a second factor, a passkey or a provider's answer, and ends the user's oldest if there are
 * too many: in a transaction.
 */
export async function insertSession(sql: Connection, session: NewSession): Promise<void> {
  const { tokenHash, userId, waitsFor, address, origin, now } = session;
  const stage: SessionStage = waitsFor ? 'half' : 'full';
  const pressHash = session.openedByPress ?? null;
  await sql`
    insert into session (id, token_hash, former_token_hash, press_at, user_id, stage, factor, must_register, proven, customer_ids, address, browser, connection_id,
      sealed_id_token, provider_subject_hash, provider_session_hash, provider_ends_at, authenticated_at,
      created_at, last_seen_at, ends_at, passkey_id, last_code_hash, last_code_at, proof, proven_at)
    values (${session.id ?? randomUUID()}, ${tokenHash}, ${session.formerTokenHash ?? null}, ${session.pressAt ?? null},
      ${userId}, ${stage}, ${waitsFor?.factor ?? null}, ${waitsFor?.mustRegister ?? false},
      ${session.proven}, ${session.customerIds}::uuid[], ${address}, ${session.browser}, ${origin.connectionId},
      ${origin.sealedIdToken}, ${origin.providerSubjectHash}, ${origin.providerSessionHash}, ${origin.providerEndsAt},
      ${origin.authenticatedAt}, ${now}, ${now}, ${session.endsAt}, ${session.passkeyId ?? null},
      ${pressHash}, ${pressHash && (session.pressAt ?? null)}, ${session.proof}, ${session.provenAt})`;
  await deleteOldestSessions(sql, { tokenHash, userId, connectionId: origin.connectionId, stage, address });
}

/**
 * Locks a session against being ended or consumed by others until the transaction ends; false if it is gone. To change
 * what depends on a session, lock it first, and its user before that.
 */
export async function isSessionThereForUpdate(sql: Connection, tokenHash: Buffer): Promise<boolean> {
  return (await sql`select from session where token_hash = ${tokenHash} for update`).length > 0;
}

/** Ends the session that a browser shows the cookie of, if any, before a sign-in there stores its own. */
export async function deleteSessionOfBrowser(sql: Connection, sessionHash: Buffer | null): Promise<void> {
  if (sessionHash !== null) await sql`delete from session where token_hash = ${sessionHash}`;
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
    update session set token_hash = ${after}, former_token_hash = ${before}, press_at = ${pressAt}, rotated_at = ${now},
      former_ends_at = ${new Date(now.getTime() + limits.responseUnread)}
    where token_hash = ${before}`;
}

/** Whether a session has got this token since a time, instead of another one. */
export async function isRotatedSince(sql: Connection, tokenHash: Buffer, since: Date): Promise<boolean> {
  return (await sql`select from session where token_hash = ${tokenHash} and rotated_at > ${since}`).length > 0;
}

/** The session with a token; null if there is none. */
export async function findSessionId(sql: Connection, tokenHash: Buffer): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`select id from session where token_hash = ${tokenHash}`;
  return row?.id ?? null;
}

/** Binding (additional data) for the provider's proof stored with a session. */
export function idTokenPlace(userId: string): string {
  return `id-token:${userId}`;
}
