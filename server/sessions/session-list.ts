import type { Connection } from '../database/database.ts';

/** A full session as its person and operators see it. */
type ListedSession = {
  id: string;
  /** As the browser named itself at the sign-in; null if unknown. */
  browser: string | null;
  address: string;
  signedInAt: Date;
  lastSeenAt: Date;
  endsAt: Date;
  /** The provider's name; null for a password or passkey. */
  provider: string | null;
  byPasskey: boolean;
};

/** The full sessions of a user that are alive, by their last use; only those of a connection if one is given. */
export async function listSessionsOfUser(
  sql: Connection,
  { userId, connectionId = null }: { userId: string; connectionId?: string | null },
  { now, idleSince }: { now: Date; idleSince: Date },
): Promise<ListedSession[]> {
  return await sql<ListedSession[]>`
    select s.id, s.browser, host(s.address) as address, s.created_at as "signedInAt", s.last_seen_at as "lastSeenAt",
      s.ends_at as "endsAt", way.name as provider, s.passkey_id is not null as "byPasskey"
    from session s left join sso_connection way on way.id = s.connection_id
    where s.user_id = ${userId} and (${connectionId}::uuid is null or s.connection_id = ${connectionId}::uuid)
      and s.stage = 'full' and s.ends_at > ${now} and s.last_seen_at > ${idleSince}
    order by s.last_seen_at desc, s.id`;
}

/**
 * Ends sessions of a user, half ones included: all of them, or those of which all that is given is true, but not `kept`. Returns
 * how many. Lock the user first.
 */
export async function endSessionsOfUser(
  sql: Connection,
  userId: string,
  which: { id?: string | null; connectionId?: string | null; passkeyId?: string; kept?: string | null } = {},
): Promise<number> {
  const { id = null, connectionId = null, passkeyId = null, kept = null } = which;
  const { count } = await sql`
    delete from session
    where user_id = ${userId} and id is distinct from ${kept}::uuid
      and (${id}::uuid is null or id = ${id}::uuid)
      and (${connectionId}::uuid is null or connection_id = ${connectionId}::uuid)
      and (${passkeyId}::uuid is null or passkey_id = ${passkeyId}::uuid)`;
  return count;
}

/**
 * Ends the other sessions of a user once the factors have changed in this one: all of them if it came by password or passkey,
 * otherwise those of providers that see no more customers than its own. Lock the user first.
 */
export async function endLesserSessions(
  sql: Connection,
  { userId, sessionId }: { userId: string; sessionId: string },
): Promise<void> {
  await sql`
    delete from session other using session own
    where own.id = ${sessionId} and other.user_id = ${userId} and other.id <> own.id
      and (own.connection_id is null
        or other.connection_id is not null and other.customer_ids <@ own.customer_ids)`;
}
