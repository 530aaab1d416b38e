import { limits } from '../limits.ts';
import type { Connection } from './database.ts';
import { deleteInParts } from './delete-in-parts.ts';
import { mustRegisterNow } from './email-before-app.ts';
import { endedKeptUntil } from './ended-session.ts';
import { rowOrNull } from './row-or-null.ts';
import type { SessionStage } from './session.ts';
import type { Fragment } from './sso-domain.ts';

/** A session that its browser has ended: its user, and what its provider expects at sign-out. */
export type SignedOutSession = {
  userId: string;
  username: string;
  stage: SessionStage;
  /** A half one that was to register its second factor. */
  mustRegister: boolean;
  /** Null for a password. */
  connectionId: string | null;
  sealedIdToken: Buffer | null;
  /** Found by the token of a session that it replaced, which may have been somebody else's. */
  byReplaced: boolean;
  /** Found by the token that the session had last, not by an earlier one of its own, which may be a copy's. */
  byOwnToken: boolean;
};

/**
 * Ends a session with its siblings and returns it; null if there was none. A session that a correct code has just given a
 * new token, or that has just replaced this one, belongs to the same browser, which may not know the new token yet: after
 * waiting for it, only a new statement sees it. Both tokens find it again until `keptUntil`, with findSignedOutSession, unless
 * the former one was over before: it may be a copy's (docs/decisions/0051). So a former token yields no proof for the provider,
 * and a replaced one, which may have belonged to somebody else, counts as that of a full session. A half session that replaced
 * a full one counts as the full one, for the provider too. The browser may lose the response to the sign-out: if it comes back
 * with the token, or was closed and comes back with the marks of its turn, the turn ends then (docs/decisions/0027).
 */
export async function takeSession(
  sql: Connection,
  tokenHash: Buffer,
  { markHashes, now, keptUntil }: { markHashes: readonly Buffer[]; now: Date; keptUntil: Date },
): Promise<SignedOutSession | null> {
  const marksEndAt = new Date(now.getTime() + limits.askedAfresh);
  const take = (which: Fragment) =>
    rowOrNull(sql<SignedOutSession[]>`
      with ended as (
        -- Locked in one order, so that two that end the same sessions never wait for each other.
        delete from session s using portal_user u
        where s.token_hash in (select token_hash from session where ${which} order by token_hash for update) and u.id = s.user_id
        returning s.token_hash, s.former_token_hash, u.id, u.username,
          ${isFormerTokenGood(sql, sql`s`, now)} as is_former_good,
          s.stage, ${mustRegisterNow(sql, sql`s`)} as must_register, s.connection_id, s.sealed_id_token,
          s.ends_at
      ), tokens as (
        select id, username, must_register, connection_id, ended.ends_at, hash, by_replaced, hash = token_hash as by_own_token,
          hash = token_hash or is_former_good as is_good,
          case when by_replaced then 'full' else stage end as stage,
          case when hash = token_hash then sealed_id_token end as proof
        from ended, unnest(array[token_hash, former_token_hash]) as hash,
          lateral (select false as by_replaced) as found
        where hash is not null
      ), kept as (
        insert into signed_out_session (token_hash, user_id, stage, must_register, connection_id, sealed_id_token, by_replaced, by_own_token, ends_at)
        select hash, id, stage, must_register, connection_id, proof, by_replaced, by_own_token, ${keptUntil}
        from tokens where is_good on conflict do nothing
      ), noted as (
        insert into ended_session (token_hash, ends_at)
        select hash, ${endedKeptUntil(sql, sql`ends_at`, now)} from tokens
        union all
        select digest, ${marksEndAt} from unnest(${markHashes}::bytea[]) digest
        where exists (select from tokens where hash = ${tokenHash})
        on conflict do nothing
      )
      select id as "userId", username, stage, must_register as "mustRegister", connection_id as "connectionId",
        proof as "sealedIdToken", by_replaced as "byReplaced", by_own_token as "byOwnToken"
      from tokens where hash = ${tokenHash} order by stage`);
  return (
    (await take(sql`token_hash = ${tokenHash}`)) ??
    (await take(sql`former_token_hash = ${tokenHash} and ${isFormerTokenGood(sql, sql`session`, now)}`))
  );
}

/** A condition: the former token of a session still leads to it. */
function isFormerTokenGood(sql: Connection, session: Fragment, now: Date) {
  return sql`coalesce(${session}.former_ends_at > ${now}, true)`;
}

/** A session that its browser ended a moment ago, by any of its tokens; or null. */
export async function findSignedOutSession(sql: Connection, tokenHash: Buffer, now: Date) {
  return await rowOrNull(sql<SignedOutSession[]>`
    select u.id as "userId", u.username, s.stage, s.must_register as "mustRegister", s.connection_id as "connectionId", s.sealed_id_token as "sealedIdToken", s.by_replaced as "byReplaced", s.by_own_token as "byOwnToken"
    from signed_out_session s join portal_user u on u.id = s.user_id
    where s.token_hash = ${tokenHash} and s.ends_at > ${now}`);
}

/**
 * Forgets that sign-outs of half sessions, and second presses, lead to a connection's provider: their proof is for the one
 * before. Does nothing to the sessions themselves; end those first (`deleteSessionsOfConnection`).
 */
export async function forgetWaysOut(sql: Connection, connectionId: string): Promise<void> {
  await sql`
    update signed_out_session set connection_id = null, sealed_id_token = null where connection_id = ${connectionId}`;
}

/** Deletes what is no longer kept; returns how many. */
export async function deleteOldSignedOutSessions(sql: Connection, now: Date): Promise<number> {
  return await deleteInParts(sql, 'signed_out_session', sql`ends_at <= ${now}`);
}
