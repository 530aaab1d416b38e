import type { DepsWithoutWake, Wake } from '../deps/deps.ts';
import { second } from '../limits.ts';
import { mailDelivery } from '../mail/deliver-mail.ts';
import { mailLanes } from '../mail/smtp-transport.ts';
import { answerResetRequest } from '../password/answer-reset-request.ts';
import { hubsToTell, hubTelling } from '../sign-out/tell-hubs.ts';
import { isDatabaseAway } from '../storage/connect.ts';
import { type Outcome, startWorker } from '../worker.ts';

/** Logout tokens that one instance sends at once. */
export const hubLogoutLanes = 5;

/** How often the database is checked for work left by other processes. */
export const workLookEvery = second;

/** All background work except housekeeping. */
export type Workers = { wake: Wake; stop: () => Promise<void> };

/** Starts the workers for work queued in the database; instances share it, and each piece is done by only one. */
export function startWorkers(deps: DepsWithoutWake): Workers {
  const { log } = deps;
  const lookEvery = workLookEvery;
  const mails = startWorker({
    name: 'sending an email',
    work: mailDelivery(deps),
    lookEvery,
    lanes: mailLanes,
    log,
  });
  const wake: Wake = { mails: mails.wake, resetRequests: () => resetRequests.wake() };
  const resetRequests = startWorker({
    name: 'answering a reset request',
    work: noting(deps, () => answerResetRequest({ ...deps, wake })),
    lookEvery,
    log,
  });
  const hubs =
    hubsToTell(deps.config).length === 0
      ? null
      : startWorker({
          name: 'telling hubs',
          work: hubTelling(deps),
          lookEvery,
          lanes: hubLogoutLanes,
          log,
        });
  return {
    wake,
    async stop() {
      await Promise.all([resetRequests.stop(), mails.stop(), hubs?.stop()]);
    },
  };
}

/** The same work, which also notes whether the database is there: for pages that don't ask it themselves. */
function noting<Args extends unknown[]>(
  { outage }: DepsWithoutWake,
  work: (...args: Args) => Promise<Outcome>,
): (...args: Args) => Promise<Outcome> {
  return async (...args) => {
    try {
      const outcome = await work(...args);
      outage.isDatabaseAway = false;
      return outcome;
    } catch (error) {
      outage.isDatabaseAway = isDatabaseAway(error);
      throw error;
    }
  };
}
