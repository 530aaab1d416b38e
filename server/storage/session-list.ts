import { isListedFor } from './account.ts';
import type { Connection } from './database.ts';
import { signOutSessions } from './end-sessions.ts';

/** How many of their sessions people see on their account page: all of them by two ways in. */
const sessionsShown = 200;

/** A session as its person sees it. `sid` opens nothing. */
export type ListedSession = {
  sid: string;
  /** As the browser named itself at the sign-in; null if unknown. */
  browser: string | null;
  address: string;
  signedInAt: Date;
  lastSeenAt: Date;
  /** The provider's name; null for a password. */
  provider: string | null;
  isOwn: boolean;
};

/** The sessions that a session may see, its own first, then by their last use, at most `sessionsShown`. */
export async function listSessionsFor(
  sql: Connection,
  sessionHash: Buffer,
  at: { now: Date; idleSince: Date },
): Promise<ListedSession[]> {
  return await sql<ListedSession[]>`
    select other.id as sid, other.browser, host(other.address) as address, other.created_at as "signedInAt",
      other.last_seen_at as "lastSeenAt", (select name from sso_connection where id = other.connection_id) as provider,
      other.token_hash = s.token_hash as "isOwn"
    from session s join session other on ${isListedFor(sql, at)}
    where s.token_hash = ${sessionHash}
    order by other.token_hash = s.token_hash desc, other.last_seen_at desc, other.id limit ${sessionsShown}`;
}

/** A session as an operator sees it. */
export type SessionOfUser = Omit<ListedSession, 'isOwn'> & { byPasskey: boolean; endsAt: Date };

/** The full sessions of a user that are alive, by their last use. */
export async function listSessionsOfUser(
  sql: Connection,
  userId: string,
  { now, idleSince }: { now: Date; idleSince: Date },
): Promise<SessionOfUser[]> {
  return await sql<SessionOfUser[]>`
    select s.id as sid, s.browser, host(s.address) as address, s.created_at as "signedInAt", s.last_seen_at as "lastSeenAt",
      s.ends_at as "endsAt", (select name from sso_connection where id = s.connection_id) as provider,
      s.passkey_id is not null as "byPasskey"
    from session s
    where s.user_id = ${userId} and s.stage = 'full' and s.ends_at > ${now} and s.last_seen_at > ${idleSince}
    order by s.last_seen_at desc, s.id`;
}

/**
 * Ends sessions of a person as a sign-out in their browsers: the one with a `sid`, or all of them, half ones included, but not
 * `kept`; only those of a connection if one is given. Returns how many. Lock the person first, and their own session.
 */
export async function endSessions(
  sql: Connection,
  {
    userId,
    sid,
    connectionId,
    kept,
  }: { userId: string; sid: string | null; connectionId: string | null; kept: Buffer | null },
  now: Date,
): Promise<number> {
  const which = sql`s.user_id = ${userId} and s.token_hash is distinct from ${kept}
    and (${sid}::uuid is null or s.id = ${sid}::uuid)
    and (${connectionId}::uuid is null or s.connection_id = ${connectionId}::uuid)`;
  return (await signOutSessions(sql, which, now)).length;
}
