import type { Connection } from '../database/database.ts';
import { rowOrNull } from '../database/row-or-null.ts';

/** Work that waits, and is done once by any instance. */
export type Job<Payload = unknown> = {
  id: string;
  payload: Payload;
  /** Whose removal takes it along. */
  userId: string | null;
  /** A token that the payload must not hold, and the hash under which it is kept elsewhere. */
  sealedToken: Buffer | null;
  tokenHash: Buffer | null;
  madeAt: Date;
  /** This attempt included. */
  tries: number;
  problem: string | null;
};

type NewJob = {
  id: string;
  queue: string;
  /** Somebody waits for it before they can go on, so it goes before others of its queue. */
  isWaitedFor: boolean;
  payload: object;
  madeAt: Date;
} & Partial<Pick<Job, 'userId' | 'sealedToken' | 'tokenHash'>>;

/** In the transaction of what causes it. */
export async function insertJob(sql: Connection, job: NewJob): Promise<void> {
  const { id, queue, isWaitedFor, payload, madeAt, userId = null, sealedToken = null, tokenHash = null } = job;
  await sql`
    insert into job (id, queue, priority, payload, user_id, sealed_token, token_hash, run_after, made_at)
    values (${id}, ${queue}, ${isWaitedFor ? 1 : 0}, ${JSON.stringify(payload)}, ${userId},
      ${sealedToken}, ${tokenHash}, ${madeAt}, ${madeAt})`;
}

/**
 * Takes the next job of a queue, which is this caller's until `until`: if it is neither deleted nor postponed by then, whoever
 * took it has died, and another one takes it.
 */
export async function takeJob<Payload>(sql: Connection, queue: string, { now, until }: { now: Date; until: Date }) {
  return await rowOrNull(sql<Job<Payload>[]>`
    update job set run_after = ${until}, tries = tries + 1
    where id = (
      select id from job where queue = ${queue} and run_after <= ${now}
      order by priority desc, run_after limit 1 for update skip locked
    )
    returning id, payload, user_id as "userId", sealed_token as "sealedToken", token_hash as "tokenHash",
      made_at as "madeAt", tries, problem`);
}

/** False if it was gone. */
export async function deleteJob(sql: Connection, id: string): Promise<boolean> {
  return (await sql`delete from job where id = ${id}`).count > 0;
}

/** Postpones a job that failed. */
export async function updateJobLater(
  sql: Connection,
  id: string,
  { runAfter, tries, problem }: { runAfter: Date; tries: number; problem: string },
): Promise<void> {
  await sql`update job set run_after = ${runAfter}, tries = ${tries}, problem = ${problem} where id = ${id}`;
}

/** Since when the oldest job of each queue waits; queues without one are left out. */
export async function oldestJobs(sql: Connection): Promise<{ queue: string; madeAt: Date }[]> {
  return await sql<{ queue: string; madeAt: Date }[]>`
    select queue, min(made_at) as "madeAt" from job group by queue order by queue`;
}
