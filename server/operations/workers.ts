import { isDatabaseAway } from '../database/connect.ts';
import type { DepsWithoutWake, Wake } from '../deps.ts';
import { hubQueue, hubsToTell } from '../hub/tell-hubs.ts';
import { jobsOf, type Queue } from '../jobs/job.ts';
import { type Outcome, startWorker, type Worker } from '../jobs/worker.ts';
import { second } from '../limits.ts';
import { resetQueue } from '../sign-in/reset-request.ts';
import { mailQueue } from './deliver-mail.ts';

/** How often the database is checked for jobs left by other processes. */
export const workLookEvery = second;

/** All background work except housekeeping. */
export type Workers = { wake: Wake; stop: () => Promise<void> };

/** Starts a worker for each queue of jobs, so that a server that is away holds up only what needs it. */
export function startWorkers(deps: DepsWithoutWake): Workers {
  const start = <Payload>(queue: Queue<Payload>, work = jobsOf(deps, queue)): Worker =>
    startWorker({ name: queue.name, work, lookEvery: workLookEvery, atOnce: queue.atOnce, log: deps.log });
  const mails = start(mailQueue(deps));
  const wake: Wake = { mails: mails.wake, resetRequests: () => resets.wake() };
  const queue = resetQueue({ ...deps, wake });
  const resets = start(queue, noting(deps, jobsOf(deps, queue)));
  const hubs = hubsToTell(deps.config).map((hub) => start(hubQueue(deps, hub)));
  return {
    wake,
    async stop() {
      await Promise.all([mails, resets, ...hubs].map((worker) => worker.stop()));
    },
  };
}

/** The same work, which also notes whether the database is there: for pages that don't ask it themselves. */
function noting({ outage }: DepsWithoutWake, work: () => Promise<Outcome>): () => Promise<Outcome> {
  return async () => {
    try {
      const outcome = await work();
      outage.isDatabaseAway = false;
      return outcome;
    } catch (error) {
      outage.isDatabaseAway = isDatabaseAway(error);
      throw error;
    }
  };
}
