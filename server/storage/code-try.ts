import type { Connection } from './database.ts';
import { rowOrNull } from './row-or-null.ts';
import type { SessionStage } from './session.ts';
import type { WayIn } from './throttle-keys.ts';

/** A counted attempt at a code: its number in a half session, and the moment as of which it is judged. */
export type CodeTry = { tries: number; at: Date; isSamePress: boolean };

/**
 * Counts an attempt at a code before the check: in a half session up to `most`, in a full one only for the account.
 * Null if they are used up, or the session is gone. The last press repeated since a given time is the same attempt: it
 * is not counted, and is checked as of the first press, so that it reveals nothing that the first one did not. In a
 * transaction.
 */
export async function countCodeTry(
  sql: Connection,
  tokenHash: Buffer,
  { most, pressHash, since, now }: { most: number; pressHash: Buffer | null; since: Date; now: Date },
): Promise<CodeTry | null> {
  const [last] = await sql<{ tries: number; stage: string; at: Date; isSamePress: boolean }[]>`
    select code_tries as tries, stage, last_code_at as at,
      coalesce(last_code_hash = ${pressHash}::bytea and last_code_at > ${since}, false) as "isSamePress"
    from session where token_hash = ${tokenHash} for no key update`;
  if (!last) return null;
  const { tries, at, isSamePress } = last;
  if (isSamePress) return { tries, at, isSamePress };
  const isHalf = last.stage === 'half';
  if (isHalf && tries >= most) return null;
  const counted = tries + (isHalf ? 1 : 0);
  await sql`
    update session set code_tries = ${counted}, last_code_hash = ${pressHash}, last_code_at = ${pressHash && now}
    where token_hash = ${tokenHash}`;
  return { tries: counted, at: now, isSamePress };
}

/**
 * Notes that a half session's code at an attempt was that of another time. Whether its offset, in seconds, may be
 * reported: if the last such code, of another time step, had the same, give or take `tolerance`. Only at one attempt,
 * and to each press of it.
 */
export async function noteClock(
  sql: Connection,
  tokenHash: Buffer,
  { tries, step, offset, tolerance }: { tries: number; step: number; offset: number; tolerance: number },
): Promise<boolean> {
  const [row] = await sql<{ isReported: boolean }[]>`
    with seen as (
      select token_hash, clock_told, clock_told_at_try,
        coalesce(clock_step <> ${step} and abs(clock_offset - ${offset}) <= ${tolerance}, false) as confirmed
      from session where token_hash = ${tokenHash} for no key update
    ),
    noted as (
      select token_hash, case when clock_told then clock_told_at_try when confirmed then ${tries}::integer end as told_at from seen
    )
    update session s
    set clock_step = ${step}, clock_offset = ${offset}, clock_told = told_at is not null, clock_told_at_try = told_at
    from noted where s.token_hash = noted.token_hash
    returning coalesce(told_at = ${tries}, false) as "isReported"`;
  return row?.isReported ?? false;
}

/**
 * The session that a press has opened since a time: a half one is to register an app next. `has…` and `shows…` say what
 * its answer gave.
 */
export type SessionOfPress = {
  stage: SessionStage;
  connectionId: string | null;
  hasNewDevice: boolean;
  isRemembered: boolean;
  showsRecoveryCodes: boolean;
};

/**
 * Whose session a right code has opened since a time instead of this one, and by which way in; null if none has. Locked
 * until the transaction ends, so that the presses of one button are judged one after the other.
 */
export async function findOpenedByPressForUpdate(sql: Connection, former: Buffer, since: Date) {
  return await rowOrNull(sql<(WayIn & { username: string })[]>`
    select s.user_id as "userId", s.connection_id as "connectionId", u.username
    from session s join portal_user u on u.id = s.user_id
    where s.former_token_hash = ${former} and s.press_at > ${since} for update of s`);
}

/** What the right code of a press opened; null if nothing, if it has ended, or its session goes by another token now. */
export async function findSessionOfPress(
  sql: Connection,
  hashes: { former: Buffer; session: Buffer; device: Buffer; remembered: Buffer },
  { since, now }: { since: Date; now: Date },
) {
  const { former, session, device, remembered } = hashes;
  return await rowOrNull(sql<SessionOfPress[]>`
    select s.stage, s.connection_id as "connectionId",
      exists (select from device where token_hash = ${device} and user_id = s.user_id) as "hasNewDevice",
      exists (select from remembered_device where token_hash = ${remembered} and user_id = s.user_id) as "isRemembered",
      exists (
        select from shown_recovery_codes where session_id = s.id and user_id = s.user_id and shown_until > ${now}
      ) as "showsRecoveryCodes"
    from session s
    where s.token_hash = ${session} and s.former_token_hash = ${former} and s.press_at > ${since}`);
}
