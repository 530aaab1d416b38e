import { limits } from '../limits.ts';
import type { Connection } from './database.ts';
import { endedKeptUntil } from './ended-session.ts';
import type { Fragment } from './sso-domain.ts';

/** How many one sign-in ends, where more were made before there was a limit. */
const oldestSessionsAtOnce = 100;

/**
 * A condition: a user has so many sessions by a way in that one more, full or half, ends others. Counts those that are over
 * and yet to be deleted, too. `userId` is a value of SQL.
 */
export function hasManySessions(
  sql: Connection,
  { userId, connectionId, address }: { userId: Fragment; connectionId: string | null; address: string },
): Fragment {
  return sql`(
    select count(*) filter (where stage = 'full') >= ${sql.unsafe(String(limits.sessionsOfUser))}
      or count(*) filter (where stage = 'half' and address = ${address}::inet) >= ${sql.unsafe(String(limits.halfSessionsOfUser))}
    from session where user_id = ${userId} and connection_id is not distinct from ${connectionId}::uuid)`;
}

/**
 * Ends what a session that was just made exceeds the limit by, those used longest ago, as a sign-out in their browsers, and
 * records it. A full session counts against those of the same user and way in, since a provider ends nothing that it could
 * not have opened; a half one also has to come from the same address, so that somebody elsewhere who knows the password
 * keeps nobody from entering their code. One that something else has locked stays until the next time: this waits for
 * nobody, so it has no place in the order of locks (docs/decisions/0028). Belongs into the transaction that made it.
 */
export async function endOldestSessions(
  sql: Connection,
  made: {
    tokenHash: Buffer;
    userId: string;
    connectionId: string | null;
    stage: 'half' | 'full';
    address: string;
    requestId: string | null;
    now: Date;
  },
): Promise<void> {
  const { tokenHash, userId, connectionId, stage, address, now } = made;
  const most = stage === 'full' ? limits.sessionsOfUser : limits.halfSessionsOfUser;
  await sql`
    with ended as (
      delete from session where token_hash in (
        select token_hash from session where token_hash in (
          select token_hash from session
          where user_id = ${userId} and connection_id is not distinct from ${connectionId}::uuid and stage = ${stage}
            and (stage = 'full' or address = ${address}::inet) and ends_at > ${now} and token_hash <> ${tokenHash}
          order by last_seen_at desc, created_at desc, token_hash offset ${most - 1} limit ${oldestSessionsAtOnce}
        ) for update skip locked)
      returning token_hash, former_token_hash, replaced_full, ends_at
    ), noted as (
      insert into ended_session (token_hash, ends_at)
      select hash, ${endedKeptUntil(sql, sql`ends_at`, now)} from ended, unnest(array[token_hash, former_token_hash]) as hash
      where (${stage} = 'full' or replaced_full) and hash is not null
      on conflict do nothing
    )
    insert into audit_event (at, event, user_id, username, address, request_id, steps)
    select ${now}, 'oldest-sessions-ended', id, username, ${address}::inet, ${made.requestId},
      jsonb_build_array(jsonb_build_object('step', 'sessions ended', 'outcome', (select count(*) from ended)::text))
    from portal_user where id = ${userId} and ${stage} = 'full' and exists (select from ended)`;
}
