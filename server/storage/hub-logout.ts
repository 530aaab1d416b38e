import type { Connection, Database } from './database.ts';
import { rowOrNull } from './row-or-null.ts';

/** A session's end that a hub is yet to be told of; `id` is a 64-bit number. */
export type HubLogout = { id: string; audience: string; sid: string; userId: string; tries: number };

/** What was given up for a hub: how many, and what the hub's last answer was; null if it was never asked. */
export type GivenUp = { audience: string; count: number; problem: string | null };

/** Says which hubs are told from now on; what waits for others is dropped. */
export async function updateHubReceivers(sql: Database, audiences: readonly string[]): Promise<void> {
  const names = audiences as string[];
  await sql`delete from hub_receiver where audience <> all(${names}::text[])`;
  await sql`insert into hub_receiver (audience) select unnest(${names}::text[]) on conflict do nothing`;
}

/**
 * Claims the one that is due for the longest, of hubs that are not known to be away; null if there is none. What was never
 * refused is due before all others, by age. The claim is exclusive until `until`; if the owner dies, another can claim it
 * after that.
 */
export async function takeOnHubLogout(
  sql: Connection,
  { audiences, now, until }: { audiences: readonly string[]; now: Date; until: Date },
): Promise<HubLogout | null> {
  return await rowOrNull(sql<HubLogout[]>`
    with due as materialized (
      -- Hub by hub: what waits for one that is away is not even looked at.
      select l.id from hub_receiver r cross join lateral (
        select id from hub_logout waiting where waiting.audience = r.audience and waiting.send_after <= ${now}
        order by send_after, id limit 1 for update skip locked
      ) l
      where r.audience = any(${audiences as string[]}::text[]) and r.paused_until <= ${now} limit 1
    )
    update hub_logout l set send_after = ${until}, tries = tries + 1 from due where l.id = due.id
    returning l.id::text, l.audience, l.sid, l.user_id as "userId", l.tries`);
}

/** The hub was told. */
export async function deleteHubLogout(sql: Connection, { id, audience }: HubLogout): Promise<void> {
  await sql`
    with answered as (
      update hub_receiver set failures = 0, paused_until = '-infinity' where audience = ${audience} and failures > 0
    )
    delete from hub_logout where id = ${id}`;
}

/** The hub refused it: when to try again, and why. */
export async function updateHubLogoutPutBack(
  sql: Connection,
  { id }: HubLogout,
  { sendAfter, problem, now }: { sendAfter: Date; problem: string; now: Date },
): Promise<void> {
  await sql`
    update hub_logout set send_after = ${sendAfter}, problem = ${problem}, waiting_since = coalesce(waiting_since, ${now})
    where id = ${id}`;
}

/**
 * The hub is away: this attempt isn't counted, and nothing is sent to it for a time that doubles with each failure in a
 * row. Attempts that were made side by side count once. Returns the time in milliseconds, or null for another's failure.
 */
export async function updateHubAway(
  sql: Database,
  { id, audience }: HubLogout,
  away: { problem: string; now: Date; firstPause: number; longestPause: number },
): Promise<number | null> {
  const { problem, now, firstPause, longestPause } = away;
  return await sql.begin(async (sql) => {
    // One after the other: each changes all rows of the hub.
    await sql`select from hub_receiver where audience = ${audience} for no key update`;
    await sql`
      update hub_logout set send_after = '-infinity', tries = tries - 1, problem = ${problem} where id = ${id}`;
    await sql`
      update hub_logout set waiting_since = ${now} where audience = ${audience} and waiting_since is null`;
    const [row] = await sql<{ pause: number }[]>`
      update hub_receiver r set failures = r.failures + 1,
        paused_until = ${now}::timestamptz + make_interval(secs => p.pause / 1000)
      from (select least(${longestPause}::float8, ${firstPause}::float8 * power(2, least(30, failures))) as pause
        from hub_receiver where audience = ${audience}) p
      where r.audience = ${audience} and r.paused_until <= ${now} returning p.pause`;
    return row?.pause ?? null;
  });
}

/** Drops what has waited since before a time, and what exceeds a number for one hub, oldest first. */
export async function deleteHopelessHubLogouts(
  sql: Connection,
  { since, most }: { since: Date; most: number },
): Promise<GivenUp[]> {
  return await sql<GivenUp[]>`
    with too_many as materialized (
      select r.audience, (
        select id from hub_logout newer where newer.audience = r.audience order by id desc offset ${most} limit 1) as up_to
      from hub_receiver r
    ), given_up as (
      delete from hub_logout l using too_many t
      where l.audience = t.audience and (l.waiting_since <= ${since} or l.id <= t.up_to)
      returning l.audience, l.problem
    )
    select audience, count(*)::int as count, max(problem) as problem from given_up group by audience order by audience`;
}

/** Ended sessions that a hub did not take yet, although it was asked: how many, since when, and its last answer. */
export type UntoldHub = { audience: string; count: number; since: Date; problem: string };

export async function listUntoldHubs(sql: Connection): Promise<UntoldHub[]> {
  return await sql<UntoldHub[]>`
    select audience, count(*)::int as count, min(waiting_since) as since,
      coalesce((array_agg(problem order by id desc) filter (where problem is not null))[1], 'none') as problem
    from hub_logout where waiting_since is not null group by audience order by audience`;
}
