import type { Connection } from '../database/database.ts';
import type { DepsWithoutWake } from '../deps.ts';
import { day, hour, minute, second } from '../limits.ts';
import { deleteJob, type Job, takeJob, updateJobLater } from './job.ts';
import type { Outcome } from './worker.ts';

/** Longer than any job takes: one that is not over by then is another instance's. */
export const jobLease = 2 * minute;

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

/**
 * Does the next job of a queue, at each call. Instances share the queue, and a job is one instance's at a time
 * (docs/decisions/0011).
 */
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
    await updateJobLater(sql, id, { runAfter: after(now(), wait), tries: isAway ? tries - 1 : tries, problem });
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
