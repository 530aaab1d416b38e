import type { Outcome } from '../background/worker.ts';
import type { Deps } from '../deps.ts';
import { limits } from '../limits.ts';
import { unseal } from '../secrets/sealed.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { isEmailCodeOpen } from '../storage/email-code.ts';
import { deleteMails, type MailRow, takeOnMails, updateMailPutBack, updateMailsLetGo } from '../storage/mail.ts';
import { isResetLinkOpen, updateResetLinkEnd } from '../storage/reset-link.ts';
import { composeMail } from './compose-mail.ts';
import { sealedPlace } from './queue-mail.ts';
import { MailNotSent } from './transport.ts';

/** A mail that was taken on, with the number of this try. */
type MailInHand = MailRow & { tries: number };

type Pause = { pause: number };

/** What holds for all mails of one call: how long they are ours, and what may end it before. */
type Hand = { until: Date; pauseBefore: Pause; stopping: AbortSignal | undefined };

/**
 * The work of sending: each call sends some of the mails that wait longest. Instances share the queue, and a mail is in
 * one pair of hands at a time (docs/decisions/0011). One that the mail server refuses is tried again later and later, and
 * given up after a day; while the server is away for all of them, the outcome is a pause that grows.
 */
export function mailDelivery(deps: Deps): (stopping?: AbortSignal) => Promise<Outcome> {
  const { sql, now, metrics } = deps;
  let nextPause: number = limits.mailServerFirstPause;
  /** The pause that was begun last; lanes that were under way together when the server went away share one. */
  let lastPause: Pause = { pause: 0 };
  /** How many to take on at once: more and more while there are enough, so that a few mails go to as many lanes. */
  let most = 1;
  /** Mails that have left and are still to be deleted; while the database is away there may be some for long. */
  const left = new Set<string>();
  let recording: Promise<void> | null = null;

  return async function deliverMails(stopping?: AbortSignal): Promise<Outcome> {
    const at = now();
    const hand = { until: after(at, limits.mailTakenOnFor), pauseBefore: lastPause, stopping };
    const asked = most;
    const mails = await takeOnMails(sql, { now: at, until: hand.until, most: asked });
    most = mails.length < asked ? 1 : Math.min(limits.mailsTakenOn, asked * 2);
    try {
      return await deliverInTurn(mails, hand);
    } finally {
      await recordLeft();
    }
  };

  /** Whatever happens to one, the mails after it are let go of: others may be quicker with them. */
  async function deliverInTurn(mails: readonly MailInHand[], { until, pauseBefore, stopping }: Hand): Promise<Outcome> {
    const rest = [...mails];
    try {
      for (let mail = rest.shift(); mail; mail = rest.shift()) {
        const outcome = await deliver(mail, pauseBefore);
        if (outcome !== 'more') return outcome === 'refused' ? 'more' : outcome;
        if (lastPause !== pauseBefore) return lastPause;
        const isLate = until.getTime() - now().getTime() < limits.mailTakenOnFor / 2;
        if (isLate || stopping?.aborted) return 'more';
      }
      return mails.length > 0 ? 'more' : 'nothing';
    } finally {
      const ids = rest.map(({ id }) => id);
      if (ids.length > 0) await updateMailsLetGo(sql, ids, now());
    }
  }

  /** What became of one mail. */
  async function deliver(mail: MailInHand, pauseBefore: Pause): Promise<Outcome | 'refused'> {
    if (left.has(mail.id)) return await finish(mail);
    if (now().getTime() - mail.queuedAt.getTime() >= limits.mailGivenUpAfter) return await giveUp(mail);
    if (!(await isWanted(mail, now()))) return await drop(mail);
    const token = mail.sealedToken && unseal(deps.keys.seal, mail.sealedToken, sealedPlace(mail.id));
    if (mail.sealedToken && token === null) return await putBack(mail, 'no secret of this instance opens its link');
    try {
      await deps.mails.send(mail, composeMail({ ...mail, token }, deps.config));
    } catch (error) {
      if (!(error instanceof MailNotSent)) throw error;
      return error.why === 'away' ? await waitForServer(mail, error, pauseBefore) : await putBack(mail, error.message);
    }
    nextPause = limits.mailServerFirstPause;
    metrics.mailsSent.inc({ kind: mail.kind });
    return await finish(mail);
  }

  /** The time of a link is counted from here, however long its mail had to wait. */
  async function finish({ id, kind, tokenHash }: MailInHand): Promise<Outcome> {
    left.add(id);
    if (kind === 'resetLink' && tokenHash) await updateResetLinkEnd(sql, tokenHash, after(now(), limits.resetLink));
    // The next mail need not wait for this; who takes mails on does before he takes more.
    recordLeft().catch(() => {});
    return 'more';
  }

  /** Deletes the mails that have left: one statement at a time, for all that left while the one before was under way. */
  function recordLeft(): Promise<void> {
    recording ??= deleteLeft().finally(() => {
      recording = null;
    });
    return recording;
  }

  async function deleteLeft(): Promise<void> {
    while (left.size > 0) {
      const ids = [...left];
      await deleteMails(sql, ids);
      for (const id of ids) left.delete(id);
    }
  }

  /** Another link was used meanwhile, or another code was asked for: what the mail brings opens nothing any more. */
  async function isWanted({ kind, tokenHash }: MailInHand, at: Date): Promise<boolean> {
    if (!tokenHash) return true;
    return kind === 'signInCode' ? await isEmailCodeOpen(sql, tokenHash, at) : await isResetLinkOpen(sql, tokenHash);
  }

  async function drop({ id }: MailInHand): Promise<Outcome> {
    await deleteMails(sql, [id]);
    return 'more';
  }

  async function putBack({ id, kind, tries }: MailInHand, problem: string): Promise<'refused'> {
    const wait = Math.min(limits.mailLongestWait, limits.mailFirstWait * 2 ** Math.min(30, tries - 1));
    await updateMailPutBack(sql, id, { sendAfter: after(now(), wait), problem, tries });
    metrics.mailsRefused.inc({ kind });
    deps.log.warn({ mail: id, kind, tries, problem }, 'a mail was not taken');
    return 'refused';
  }

  /** It says nothing against this mail: the try does not count, and it is the first again. */
  async function waitForServer(
    { id, tries }: MailInHand,
    { message }: MailNotSent,
    pauseBefore: Pause,
  ): Promise<Outcome> {
    await updateMailPutBack(sql, id, { sendAfter: now(), problem: message, tries: tries - 1 });
    if (lastPause !== pauseBefore) return lastPause;
    lastPause = { pause: nextPause };
    nextPause = Math.min(limits.mailServerLongestPause, nextPause * 2);
    deps.log.warn({ problem: message, ...lastPause }, 'the mail server is away');
    return lastPause;
  }

  async function giveUp({ id, kind, userId, details, tries }: MailInHand): Promise<Outcome> {
    const steps = [
      { step: 'mail', outcome: kind },
      { step: 'tries', outcome: String(tries - 1) },
    ];
    await sql.begin(async (sql) => {
      await deleteMails(sql, [id]);
      await insertAuditEvent(sql, { event: 'mail-given-up', userId, username: details.username, steps }, now());
    });
    metrics.mailsGivenUp.inc({ kind });
    deps.log.error({ mail: id, kind }, 'a mail was given up after a day');
    return 'more';
  }
}

function after(at: Date, time: number): Date {
  return new Date(at.getTime() + time);
}
