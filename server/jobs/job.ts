import { type Connection, rowOrNull } from '../database/database.ts';
import type { DepsWithoutWake } from '../deps.ts';
import { day, hour, minute, second } from '../limits.ts';
import type { Outcome } from './worker.ts';

/** Work that waits, and is done once by any instance. */
type Job<Payload = unknown> = {
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
  /** From when on it waits: ahead for what is to be done later. */
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

/** Takes the next job of a queue until `until`: if it is still there then, its taker has died, and another one takes it. */
async function takeJob<Payload>(sql: Connection, queue: string, { now, until }: { now: Date; until: Date }) {
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

/** Since when the oldest job of each queue waits; queues without one are left out. */
export async function oldestJobs(sql: Connection): Promise<{ queue: string; madeAt: Date }[]> {
  return await sql<{ queue: string; madeAt: Date }[]>`
    select queue, min(made_at) as "madeAt" from job group by queue order by queue`;
}

/** Longer than any job takes: one that is not over by then is another instance's. */
const jobLease = 2 * minute;

/** A refused job is tried again after the first wait, which then doubles each time, up to the longest. */
export const jobFirstWait = 10 * second;

const jobLongestWait = hour;

export const jobGivenUpAfter = day;

/** What came of a job: over; refused, so that it alone is tried again later; or the server for the whole queue is away. */
export type JobResult = 'done' | { refused: string } | { away: string };

/** One sort of job. */
export type Queue<Payload> = {
  name: string;
  /** How many an instance does at once. */
  atOnce: number;
  perform: (job: Job<Payload>) => Promise<JobResult>;
  /** Records that a job waited for a day in vain, in the transaction that deletes it. */
  giveUp: (sql: Connection, job: Job<Payload>) => Promise<void>;
};

/** Does the next job of a queue, at each call; a job is one instance's at a time (docs/decisions/0011). */
export function jobsOf<Payload>(deps: DepsWithoutWake, queue: Queue<Payload>): () => Promise<Outcome> {
  const { sql, now, log } = deps;
  /** Over, and yet to be deleted: the database went away in between. */
  const over = new Set<string>();

  return async function doJob(): Promise<Outcome> {
    const at = now();
    const job = await takeJob<Payload>(sql, queue.name, { now: at, until: after(at, jobLease) });
    if (!job) return 'nothing';
    if (!over.has(job.id)) {
      if (at.getTime() - job.madeAt.getTime() >= jobGivenUpAfter) return await giveUp(job);
      const result = await queue.perform(job);
      if (result !== 'done') return await postpone(job, result);
      over.add(job.id);
    }
    await deleteJob(sql, job.id);
    over.delete(job.id);
    return 'more';
  };

  /** A server that is away is not the job's fault, and the attempt isn't counted. */
  async function postpone({ id, tries }: Job, result: Exclude<JobResult, 'done'>): Promise<Outcome> {
    const isAway = 'away' in result;
    const problem = isAway ? result.away : result.refused;
    const wait = isAway ? jobFirstWait : Math.min(jobLongestWait, jobFirstWait * 2 ** Math.min(30, tries - 1));
    await sql`
      update job set run_after = ${after(now(), wait)}, tries = ${isAway ? tries - 1 : tries}, problem = ${problem}
      where id = ${id}`;
    log.warn({ job: id, queue: queue.name, tries, problem }, isAway ? 'a server is down' : 'a job was refused');
    return isAway ? 'away' : 'more';
  }

  async function giveUp(job: Job<Payload>): Promise<Outcome> {
    await sql.begin(async (sql) => {
      await deleteJob(sql, job.id);
      await queue.giveUp(sql, job);
    });
    log.error({ job: job.id, queue: queue.name, problem: job.problem }, 'a job was given up after a day');
    return 'more';
  }
}

function after(at: Date, time: number): Date {
  return new Date(at.getTime() + time);
}
