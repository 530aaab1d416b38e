import type { Connection, Database } from '../database/database.ts';

/** A session's end that a hub is yet to be told of. */
export type HubLogout = { sid: string; userId: string };

/** The trigger session_ended has the same prefix. */
const prefix = 'hub-logout ';

/** Each hub has a queue of its own, so that one that is down holds up no other. */
export function hubQueueName(audience: string): string {
  return `${prefix}${audience}`;
}

/** Says which hubs are told from now on; what waits for others is dropped. */
export async function updateHubReceivers(sql: Database, audiences: readonly string[]): Promise<void> {
  const names = audiences as string[];
  await sql`delete from hub_receiver where audience <> all(${names}::text[])`;
  await sql`insert into hub_receiver (audience) select unnest(${names}::text[]) on conflict do nothing`;
  await sql`
    delete from job where queue like ${`${prefix}%`} and queue <> all(${names.map(hubQueueName)}::text[])`;
}

/** Drops what has waited for a hub since before a time; returns how many. */
export async function deleteHubLogoutsBefore(sql: Connection, audience: string, before: Date): Promise<number> {
  return (await sql`delete from job where queue = ${hubQueueName(audience)} and made_at <= ${before}`).count;
}

/** Ended sessions that a hub did not take yet, although it was asked: how many, since when, and its last answer. */
export type UntoldHub = { audience: string; count: number; since: Date; problem: string };

export async function listUntoldHubs(sql: Connection): Promise<UntoldHub[]> {
  return await sql<UntoldHub[]>`
    select substring(queue from ${prefix.length + 1}::int) as audience, count(*)::int as count, min(made_at) as since,
      (array_agg(problem order by run_after desc) filter (where problem is not null))[1] as problem
    from job where queue like ${`${prefix}%`} group by queue having count(problem) > 0 order by queue`;
}
