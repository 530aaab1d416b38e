import { factorResetQueue } from '../accounts/reset-two-factor.ts';
import { importQueue } from '../accounts/run-import.ts';
import { insertAuditEvent } from '../audit/audit-event.ts';
import { unseal } from '../crypto/keys.ts';
import { isDatabaseAway } from '../database/connect.ts';
import { type DepsWithoutWake, MailNotSent, type Wake } from '../deps.ts';
import { isEmailCodeOpen } from '../factors/email-code.ts';
import { hubQueue, hubsToTell } from '../hub/tell-hubs.ts';
import { jobsOf, type Queue } from '../jobs/job.ts';
import { type Outcome, startWorker, type Worker } from '../jobs/worker.ts';
import { limits, second } from '../limits.ts';
import { composeMail } from '../mail/compose-mail.ts';
import { mailQueueName, type QueuedMail, sealedPlace } from '../mail/queue-mail.ts';
import { mailsAtOnce } from '../mail/smtp-transport.ts';
import type { MailKind } from '../people/mail-kinds.ts';
import { resetQueue } from '../sign-in/forgotten.ts';
import { startResetLink } from '../sign-in/reset-link.ts';

/** How often the database is checked for jobs left by other processes. */
const workLookEvery = second;

/** All background work except housekeeping. */
type Workers = { wake: Wake; stop: () => Promise<void> };

/** Starts a worker for each queue of jobs, so that a server that is away holds up only what needs it. */
export function startWorkers(deps: DepsWithoutWake): Workers {
  const start = <Payload>(queue: Queue<Payload>, work = jobsOf(deps, queue)): Worker =>
    startWorker({ name: queue.name, work, lookEvery: workLookEvery, atOnce: queue.atOnce, log: deps.log });
  const mails = start(mailQueue(deps));
  const wake: Wake = { mails: mails.wake, resetRequests: () => resets.wake() };
  const queue = resetQueue({ ...deps, wake });
  const resets = start(queue, noting(deps, jobsOf(deps, queue)));
  const factorResets = start(factorResetQueue(deps));
  const imports = start(importQueue(deps));
  const hubs = hubsToTell(deps.config).map((hub) => start(hubQueue(deps, hub)));
  return {
    wake,
    async stop() {
      await Promise.all([mails, resets, factorResets, imports, ...hubs].map((worker) => worker.stop()));
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

/** The emails that wait to be sent. */
export function mailQueue(deps: DepsWithoutWake): Queue<QueuedMail> {
  const { sql, now, keys, config, metrics } = deps;
  return {
    name: mailQueueName,
    atOnce: mailsAtOnce,

    async perform({ id, payload, madeAt, sealedToken, tokenHash }) {
      const token = sealedToken && unseal(keys.seal, sealedToken, sealedPlace(id));
      if (sealedToken && token === null) return { refused: 'no secret of this instance can open its link' };
      if (tokenHash && !(await isWanted(payload.kind, tokenHash))) return 'done';
      const mail = { id, queuedAt: madeAt, token, ...payload };
      try {
        await deps.mails.send(mail, composeMail(mail, config));
        return 'done';
      } catch (error) {
        if (!(error instanceof MailNotSent)) throw error;
        return error.why === 'away' ? { away: error.message } : { refused: error.message };
      }
    },

    async giveUp(sql, { payload: { kind, details }, userId, tries }) {
      const steps = [
        { step: 'mail', outcome: kind },
        { step: 'tries', outcome: String(tries - 1) },
      ];
      await insertAuditEvent(
        sql,
        { event: 'mail-given-up', ...(userId && { userId }), username: details.username, steps },
        now(),
      );
      metrics.mailsGivenUp.inc({ kind });
    },
  };

  /** Whether what an email carries is still valid. The time of a link starts here, however long its email has waited. */
  async function isWanted(kind: MailKind, tokenHash: Buffer): Promise<boolean> {
    if (kind === 'signInCode') return await isEmailCodeOpen(sql, tokenHash, now());
    const lifetime = kind === 'invitation' ? limits.invitation : limits.resetLink;
    return await startResetLink(sql, tokenHash, new Date(now().getTime() + lifetime));
  }
}
