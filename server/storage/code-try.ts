import type { Connection } from './database.ts';
import type { SessionStage } from './session.ts';

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
 * Whether the clock offset may be reported at an attempt of this half session: at one, and to each press of it.
 */
export async function takeClockHelp(sql: Connection, tokenHash: Buffer, tries: number): Promise<boolean> {
  const rows = await sql`
    update session set clock_told = true, clock_told_at_try = ${tries}
    where token_hash = ${tokenHash} and (not clock_told or clock_told_at_try = ${tries}) returning token_hash`;
  return rows.length > 0;
}

/**
 * The session that a press has opened since a time: a half one is to register an app next. `has…` and `shows…` say what
 * its answer gave.
 */
export type SessionOfPress = {
  userId: string;
  stage: SessionStage;
  connectionId: string | null;
  hasNewDevice: boolean;
  isRemembered: boolean;
  showsRecoveryCodes: boolean;
};

/** What the right code of a press opened; null if nothing, if it has ended, or its session has another token now. */
export async function findSessionOfPress(
  sql: Connection,
  hashes: { former: Buffer; session: Buffer; device: Buffer; remembered: Buffer },
  { since, now }: { since: Date; now: Date },
): Promise<SessionOfPress | null> {
  const { former, session, device, remembered } = hashes;
  const [row] = await sql<SessionOfPress[]>`
    select s.user_id as "userId", s.stage, s.connection_id as "connectionId",
      exists (select from device where token_hash = ${device} and user_id = s.user_id) as "hasNewDevice",
      exists (select from remembered_device where token_hash = ${remembered} and user_id = s.user_id) as "isRemembered",
      exists (
        select from shown_recovery_codes where session_hash = s.token_hash and user_id = s.user_id and shown_until > ${now}
      ) as "showsRecoveryCodes"
    from session s
    where s.token_hash = ${session} and s.former_token_hash = ${former} and s.press_at > ${since}`;
  return row ?? null;
}
