import type { Connection, Fragment } from '../database/database.ts';
import { limits, second, type ThrottleLimit } from '../limits.ts';
import { accountKey, type ThrottleKey } from './throttle-keys.ts';

/** A limit as `throttle_attempt` takes it, in seconds. It is a product constant, so it is part of the statement. */
export function limitOf(sql: Connection, { freeFailures, leakEvery, firstWait, longestWait }: ThrottleLimit) {
  const [leak, first, longest] = [leakEvery, firstWait, longestWait].map((time) => time / second);
  return sql.unsafe(`row(${freeFailures}, ${leak}, ${first}, ${longest})::throttle_limit`);
}

/**
 * A condition that counts one attempt under each key, in order, and holds if none of them has to wait. After one that has to
 * wait, none is counted: a single flooding address must not use up the total that everybody shares.
 */
function attemptAdmitted(sql: Connection, [first, ...others]: readonly ThrottleKey[], now: Date): Fragment {
  if (!first) return sql`true`;
  return sql`case when throttle_attempt(${first.key}, null, ${now}, ${limitOf(sql, first.limit)})
    then ${attemptAdmitted(sql, others, now)} else false end`;
}

/** Counts one attempt under each key, up to one that has to wait; null if it may proceed, else until when it has to wait. */
export async function countAttempt(sql: Connection, keys: readonly ThrottleKey[], now: Date): Promise<Date | null> {
  const [row] = await sql<{ admitted: boolean }[]>`select ${attemptAdmitted(sql, keys, now)} as admitted`;
  return row?.admitted ? null : await findWait(sql, keys, now);
}

/**
 * Counts a guess under a key (`throttle_attempt` in 0001-initial.sql) before it is checked, so that many at once gain nothing;
 * false if it has to wait. The same guess twice in a row counts once. Not for a transaction that may be rolled back. The commit
 * does not wait for the disk, since losing a count is harmless.
 */
export async function countGuess(
  sql: Connection,
  { key, limit }: ThrottleKey,
  guess: Buffer,
  now: Date,
): Promise<boolean> {
  const [row] = await sql<{ admitted: boolean }[]>`
    with quick as materialized (select set_config('synchronous_commit', 'off', true))
    select throttle_attempt(${key}, ${guess}, ${now}, ${limitOf(sql, limit)}) as admitted from quick`;
  return row?.admitted === true;
}

/**
 * Lets an address make a guess: null, or until when it, its network or everyone has to wait. Once the free failures are used up
 * the guess is counted here, so that each wait is followed by one, however many are sent side by side.
 */
export async function admitAddress(sql: Connection, keys: readonly ThrottleKey[], now: Date): Promise<Date | null> {
  const rows = await sql<{ key: string; failures: number; blockedUntil: Date | null }[]>`
    select key, failures, blocked_until as "blockedUntil" from throttle
    where key = any(${keys.map(({ key }) => key)}::text[]) order by blocked_until desc nulls last`;
  const latest = rows[0]?.blockedUntil ?? null;
  if (latest && latest > now) return latest;
  // The total is everybody's: one try after each of its waits would shut out all others.
  const isSpent = ({ key, limit }: ThrottleKey) =>
    limit !== limits.throttle.total && rows.some((row) => row.key === key && row.failures >= limit.freeFailures);
  const spent = keys.filter(isSpent);
  return spent.length > 0 ? await countAttempt(sql, spent, now) : null;
}

/** Counts a failure under each key, even while it waits: it was let through before, beside others. */
export async function countFailures(sql: Connection, keys: readonly ThrottleKey[], now: Date): Promise<void> {
  await Promise.all(
    keys.map(({ key, limit }) => sql`select throttle_attempt(${key}, null, ${now}, ${limitOf(sql, limit)}, true)`),
  );
}

/** The latest wait among the keys; `now` if none has to wait. */
export async function findWait(sql: Connection, keys: readonly Pick<ThrottleKey, 'key'>[], now: Date): Promise<Date> {
  const [row] = await sql<{ until: Date }[]>`
    select greatest(max(blocked_until), ${now}) as until from throttle
    where key = any(${keys.map(({ key }) => key)}::text[])`;
  return row?.until ?? now;
}

/** Resets the counts of keys. */
export async function deleteThrottles(sql: Connection, keys: readonly Pick<ThrottleKey, 'key'>[]): Promise<void> {
  await sql`delete from throttle where key = any(${keys.map(({ key }) => key)}::text[])`;
}

/** Resets a user's counts of codes and of emails with one, whatever the first factor was. */
export async function deleteCodeThrottles(sql: Connection, userId: string): Promise<void> {
  await sql`delete from throttle where key like ${`code:${userId}%`} or key like ${`code-mail:${userId}%`}`;
}

/** Resets a user's failures, for the account and every browser known for it. */
export async function deleteThrottlesOfUser(sql: Connection, userId: string): Promise<void> {
  await sql`
    delete from throttle where key in (
      -- In one order, as by a sign-in, so that there is no deadlock.
      select key from throttle where key = ${accountKey(userId)} or key like ${`device:%:${userId}`} order by key for update
    )`;
}

/** Until when a user's account waits for its next attempt from an unknown browser; null if it need not at `now`. */
export async function findAccountWait(sql: Connection, userId: string, now: Date): Promise<Date | null> {
  const until = await findWait(sql, [{ key: accountKey(userId) }], now);
  return until > now ? until : null;
}
