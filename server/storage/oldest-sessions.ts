import { limits } from '../limits.ts';
import type { Connection } from './database.ts';
import { endedKeptUntil } from './ended-session.ts';
import type { Fragment } from './sso-domain.ts';

/** The session that is made: whose, by which way in, and from where. `userId` is a value of SQL. */
type Made = {
  userId: Fragment;
  connectionId: string | null;
  stage: 'half' | 'full';
  address: string;
  now: Date;
};

/**
 * Parts of a `with`, for the statement that makes a session: they end what exceeds the limit, those used longest ago, as a
 * sign-out in their browsers. A full session counts against those of the same user and way in, since a provider ends nothing
 * that it could not have opened; a half one also has to come from the same address, so that somebody elsewhere who knows the
 * password keeps nobody from entering their code. `onlyIf`: the session is made; `besides`: those that end anyway. The
 * statement reads `oldest`. A session that something else has locked stays until the next time: this waits for nobody, so it
 * has no place in the order of locks (docs/decisions/0028).
 */
export function oldestEnded(
  sql: Connection,
  { userId, connectionId, stage, address, now }: Made,
  { onlyIf, besides }: { onlyIf: Fragment; besides: Fragment },
): Fragment {
  const most = stage === 'full' ? limits.sessionsOfUser : limits.halfSessionsOfUser;
  return sql`
    oldest as (
      delete from session where ${onlyIf} and token_hash in (
        select token_hash from session where token_hash in (
          select token_hash from session
          where user_id = ${userId} and connection_id is not distinct from ${connectionId}::uuid and stage = ${stage}::text
            and (${stage}::text = 'full' or address = ${address}::inet) and ends_at > ${now} and not ${besides}
          order by last_seen_at desc, created_at desc, token_hash offset ${most - 1} limit ${limits.oldestSessionsAtOnce}
        ) for update skip locked)
      returning token_hash, former_token_hash, stage, replaced_full, ends_at
    ),
    oldest_noted as (
      insert into ended_session (token_hash, ends_at)
      select hash, ${endedKeptUntil(sql, sql`ends_at`, now)}
      from oldest, unnest(array[token_hash, former_token_hash]) as hash
      where (stage = 'full' or replaced_full) and hash is not null
      on conflict do nothing
    )`;
}

/** A query: the event of it, one row or none. */
export function oldestRecorded(sql: Connection, { userId, address, now }: Made, requestId: string | null): Fragment {
  return sql`
    select ${now}::timestamptz as at, 'oldest-sessions-ended' as event, u.id as user_id, u.username, ${address}::inet as address,
      ${requestId}::text as request_id,
      jsonb_build_array(jsonb_build_object('step', 'sessions ended', 'outcome', ended.count::text)) as steps
    from (select count(*) as count from oldest where stage = 'full') ended join portal_user u on u.id = ${userId}
    where ended.count > 0`;
}
