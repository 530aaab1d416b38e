import type { ThrottleLimit } from '../limits.ts';
import type { Connection } from './database.ts';
import { deleteInParts } from './delete-in-parts.ts';
import type { Fragment } from './sso-domain.ts';
import { accountKey, originLimits, type ThrottleKey, type WayIn } from './throttle-keys.ts';

/** A limit as `throttle_attempt` takes it, in seconds. It is a product constant, so it is part of the statement. */
export function limitArguments(sql: Connection, { freeFailures, leakEvery, firstWait, longestWait }: ThrottleLimit) {
  return sql.unsafe(`${freeFailures}, ${leakEvery / 1000}, ${firstWait / 1000}, ${longestWait / 1000}`);
}

/** The limits of origins by kind, as rows (kind, free, leak, first, longest); keys start with the kind. */
export function originLimitRows(sql: Connection) {
  const rows = Object.entries(originLimits).map(
    ([kind, { freeFailures, leakEvery, firstWait, longestWait }]) =>
      `('${kind}', ${freeFailures}, ${leakEvery / 1000}, ${firstWait / 1000}, ${longestWait / 1000})`,
  );
  return sql.unsafe(`(values ${rows.join(', ')}) as l (kind, free, leak, first, longest)`);
}

/**
 * A condition that counts one attempt under each key, in order, and holds if none of them has to wait. After one that has to
 * wait, none is counted: what an address sends on and on must not spend what everybody has together.
 */
export function attemptAdmitted(sql: Connection, [first, ...others]: readonly ThrottleKey[], now: Date): Fragment {
  if (!first) return sql`true`;
  return sql`case when throttle_attempt(${first.key}, null, ${now}, ${limitArguments(sql, first.limit)})
    then ${attemptAdmitted(sql, others, now)} else false end`;
}

/** Counts one attempt under each key, up to one that has to wait; null if it may proceed, else until when it has to wait. */
export async function countAttempt(sql: Connection, keys: readonly ThrottleKey[], now: Date): Promise<Date | null> {
  const [row] = await sql<{ admitted: boolean }[]>`select ${attemptAdmitted(sql, keys, now)} as admitted`;
  return row?.admitted ? null : await findWait(sql, keys, now);
}

/** The latest wait among the keys; `now` if none has to wait. */
export async function findWait(sql: Connection, keys: readonly ThrottleKey[], now: Date): Promise<Date> {
  const [row] = await sql<{ until: Date }[]>`
    select greatest(max(blocked_until), ${now}) as until from throttle
    where key = any(${keys.map(({ key }) => key)}::text[])`;
  return row?.until ?? now;
}

/** Resets the count of a key. */
export async function deleteThrottle(sql: Connection, { key }: ThrottleKey): Promise<void> {
  await sql`delete from throttle where key = ${key}`;
}

/** Resets the counts of a user's password and of every other way in. */
export async function deleteThrottleOfEveryWay(
  sql: Connection,
  keyOf: (way: WayIn) => ThrottleKey,
  userId: string,
): Promise<void> {
  const { key } = keyOf({ userId, connectionId: null });
  await sql`delete from throttle where key = ${key} or key like ${`${key}:%`}`;
}

/** Resets a user's failures, for the account and every browser known for it. */
export async function deleteThrottlesOfUser(sql: Connection, userId: string): Promise<void> {
  await sql`
    delete from throttle where key in (
      -- In one order, as by a sign-in, so that there is no deadlock.
      select key from throttle where key = ${accountKey(userId)} or key like ${`device:%:${userId}`} order by key for update
    )`;
}

/**
 * Deletes rows untouched since `before` that keep nobody waiting at `now`; returns how many. Skips locked rows, so that
 * neither this nor a sign-in waits for the other.
 */
export async function deleteStaleThrottles(sql: Connection, before: Date, now: Date): Promise<number> {
  return await deleteInParts(sql, 'throttle', sql`changed_at < ${before} and coalesce(blocked_until < ${now}, true)`);
}

/** Until when a user's account waits for its next attempt from an unknown browser; null if it need not at `now`. */
export async function findAccountWait(sql: Connection, userId: string, now: Date): Promise<Date | null> {
  const [row] = await sql<{ until: Date }[]>`
    select blocked_until as until from throttle where key = ${accountKey(userId)} and blocked_until > ${now}`;
  return row?.until ?? null;
}
