import type { Connection } from './database.ts';

/**
 * Notes that all sessions of a user were ended at once, or all that came by a connection: visits to a provider that began
 * before open none (docs/decisions/0031). Lock the user first.
 */
export async function noteAllSessionsEnded(
  sql: Connection,
  { userId, connectionId = null }: { userId: string; connectionId?: string | null },
  now: Date,
): Promise<void> {
  if (connectionId === null) await sql`update portal_user set sessions_ended_at = ${now} where id = ${userId}`;
  else
    await sql`
      update sso_subject set sessions_ended_at = ${now} where user_id = ${userId} and connection_id = ${connectionId}`;
}

/** The same for `deleteLesserSessionsOfUser`: for the user, or for the connections that see no more customers than this session. */
export async function noteLesserSessionsEnded(
  sql: Connection,
  { userId, tokenHash }: { userId: string; tokenHash: Buffer },
  now: Date,
): Promise<void> {
  await sql`
    update portal_user u set sessions_ended_at = ${now} from session own
    where own.token_hash = ${tokenHash} and own.connection_id is null and u.id = ${userId}`;
  await sql`
    update sso_subject s set sessions_ended_at = ${now} from session own, sso_connection c
    where own.token_hash = ${tokenHash} and own.connection_id is not null and s.user_id = ${userId}
      and c.id = s.connection_id and c.customer_id = any(own.customer_ids)`;
}

/**
 * When all sessions of a user were ended after a visit to a provider began, or null; null, too, if the session of `hereHash` is
 * one of theirs and was left. Lock the user first.
 */
export async function sessionsEndedSince(
  sql: Connection,
  { visitId, userId, hereHash }: { visitId: string; userId: string; hereHash: Buffer | null },
): Promise<Date | null> {
  const [row] = await sql<{ endedAt: Date }[]>`
    select greatest(u.sessions_ended_at, s.sessions_ended_at) as "endedAt"
    from sso_request r join portal_user u on u.id = ${userId}
    left join sso_subject s on s.user_id = u.id and s.connection_id = r.connection_id
    where r.id = ${visitId} and r.made_at < greatest(u.sessions_ended_at, s.sessions_ended_at)
      and not exists (select from session where token_hash = ${hereHash} and user_id = u.id and stage = 'full')`;
  return row?.endedAt ?? null;
}
