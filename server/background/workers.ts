import type { Deps, Wake } from '../deps.ts';
import { limits } from '../limits.ts';
import { mailDelivery } from '../mail/deliver-mail.ts';
import { answerResetRequest } from '../password/answer-reset-request.ts';
import { startWorker } from './worker.ts';

/** All background work except housekeeping. */
export type Workers = { wake: Wake; stop: () => Promise<void> };

/** Starts the workers for work queued in the database; instances share it, and each piece is done by only one. */
export function startWorkers(deps: Deps): Workers {
  const { log } = deps;
  const lookEvery = limits.workLookEvery;
  const resetRequests = startWorker({
    name: 'answering a reset request',
    work: () => answerResetRequest(deps),
    lookEvery,
    log,
  });
  const mails = startWorker({
    name: 'sending a mail',
    work: mailDelivery(deps),
    lookEvery,
    lanes: limits.mailLanes,
    log,
  });
  return {
    wake: { resetRequests: resetRequests.wake, mails: mails.wake },
    async stop() {
      await Promise.all([resetRequests.stop(), mails.stop()]);
    },
  };
}
