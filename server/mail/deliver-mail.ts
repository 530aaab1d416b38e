import type { DepsWithoutWake } from '../deps/deps.ts';
import { MailNotSent } from '../deps/mail-transport.ts';
import { day, hour, limits, minute, second } from '../limits.ts';
import { unseal } from '../secrets/sealed.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { isEmailCodeOpen } from '../storage/email-code.ts';
import {
  deleteMails,
  isMailWaitedFor,
  type MailInHand,
  takeOnMails,
  updateMailPutBack,
  updateMailsLetGo,
} from '../storage/mail.ts';
import type { MailKind } from '../storage/mail-kinds.ts';
import { isResetLinkOpen, updateResetLinkEnd } from '../storage/reset-link.ts';
import type { Outcome } from '../worker.ts';
import { composeMail } from './compose-mail.ts';
import { sealedPlace } from './queue-mail.ts';

/** How many a lane claims at once; it releases the rest at the first problem. */
const mailsTakenOn = 20;

/** So often a lane looks whether it holds an email that somebody waits for behind others. */
export const waitedForLookEvery = second / 4;

/** Longer than any conversation with a mail server: an email claimed but not finished is retried after this. */
export const mailTakenOnFor = 5 * minute;

/** A refused email is retried after the first wait, which then doubles each time, up to the longest. */
export const mailFirstWait = 10 * second;

const mailLongestWait = hour;

/** While the mail server is down it is retried after the first pause, and at most after the longest. */
const mailServerFirstPause = second;

export const mailServerLongestPause = minute;

export const mailGivenUpAfter = day;

/** Of the emails that carry one. */
const lifetimesOfLinks: Partial<Record<MailKind, number>> = {
  resetLink: limits.resetLink,
  invitation: limits.invitation,
};

type Pause = { pause: number };

/** Applies to all emails of one call: how long the claim lasts, and what may end it earlier. */
type Hand = { until: Date; pauseBefore: Pause; stopping: AbortSignal | undefined };

/**
 * Sends mail: each call sends some of the oldest queued emails. Instances share the queue, and an email is claimed by
 * one at a time (docs/decisions/0011). One that the mail server refuses is retried at growing intervals and dropped
 * after a day; while the server is down, the result is a growing pause.
 */
export function mailDelivery(deps: DepsWithoutWake): (stopping?: AbortSignal) => Promise<Outcome> {
  const { sql, now, metrics } = deps;
  let nextPause: number = mailServerFirstPause;
  /** The latest pause; lanes that were in progress when the server went down share one. */
  let lastPause: Pause = { pause: 0 };
  /** How many to claim at once: grows while there are enough, so that a few emails are spread over all lanes. */
  let most = 1;
  /** Sent emails yet to be deleted; they may pile up while the database is down. */
  const left = new Set<string>();
  let recording: Promise<void> | null = null;

  return async function deliverMails(stopping?: AbortSignal): Promise<Outcome> {
    const at = now();
    const hand = { until: after(at, mailTakenOnFor), pauseBefore: lastPause, stopping };
    const asked = most;
    const mails = await takeOnMails(sql, { now: at, until: hand.until, most: asked });
    most = mails.length < asked ? 1 : Math.min(mailsTakenOn, asked * 2);
    try {
      return await deliverInTurn(mails, hand);
    } finally {
      await recordLeft();
    }
  };

  /**
   * Whatever happens to one, those after it are released: other lanes may send them sooner. So are they once an email is due
   * that somebody waits for.
   */
  async function deliverInTurn(mails: readonly MailInHand[], { until, pauseBefore, stopping }: Hand): Promise<Outcome> {
    const rest = [...mails];
    let lookedAt = now();
    try {
      for (let mail = rest.shift(); mail; mail = rest.shift()) {
        const outcome = await deliver(mail, pauseBefore);
        if (outcome !== 'more') return outcome === 'refused' ? 'more' : outcome;
        if (lastPause !== pauseBefore) return lastPause;
        const isLate = until.getTime() - now().getTime() < mailTakenOnFor / 2;
        if (isLate || stopping?.aborted) return 'more';
        if (rest[0]?.isWaitedFor === false && now().getTime() - lookedAt.getTime() >= waitedForLookEvery) {
          lookedAt = now();
          if (await isMailWaitedFor(sql, lookedAt)) return 'more';
        }
      }
      return mails.length > 0 ? 'more' : 'nothing';
    } finally {
      const ids = rest.map(({ id }) => id);
      if (ids.length > 0) await updateMailsLetGo(sql, ids, now());
    }
  }

  /** The outcome for one email. */
  async function deliver(mail: MailInHand, pauseBefore: Pause): Promise<Outcome | 'refused'> {
    if (left.has(mail.id)) return await finish(mail);
    if (now().getTime() - mail.queuedAt.getTime() >= mailGivenUpAfter) return await giveUp(mail);
    if (!(await isWanted(mail, now()))) return await drop(mail);
    const token = mail.sealedToken && unseal(deps.keys.seal, mail.sealedToken, sealedPlace(mail.id));
    if (mail.sealedToken && token === null) return await putBack(mail, 'no secret of this instance can open its link');
    try {
      await deps.mails.send(mail, composeMail({ ...mail, token }, deps.config));
    } catch (error) {
      if (!(error instanceof MailNotSent)) throw error;
      return error.why === 'away' ? await waitForServer(mail, error, pauseBefore) : await putBack(mail, error.message);
    }
    nextPause = mailServerFirstPause;
    return await finish(mail);
  }

  /** The validity of a link starts here, however long its email waited. */
  async function finish({ id, kind, tokenHash }: MailInHand): Promise<Outcome> {
    left.add(id);
    const lifetime = lifetimesOfLinks[kind];
    if (lifetime && tokenHash) await updateResetLinkEnd(sql, tokenHash, after(now(), lifetime));
    // The next email need not wait for this; claiming more does.
    recordLeft().catch(() => {});
    return 'more';
  }

  /** Deletes sent emails, in one statement at a time: each covers all that were sent during the one before. */
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

  /** Another link was used meanwhile, or another code requested: what the email carries is no longer valid. */
  async function isWanted({ kind, tokenHash }: MailInHand, at: Date): Promise<boolean> {
    if (!tokenHash) return true;
    return kind === 'signInCode' ? await isEmailCodeOpen(sql, tokenHash, at) : await isResetLinkOpen(sql, tokenHash);
  }

  async function drop({ id }: MailInHand): Promise<Outcome> {
    await deleteMails(sql, [id]);
    return 'more';
  }

  async function putBack({ id, kind, tries }: MailInHand, problem: string): Promise<'refused'> {
    const wait = Math.min(mailLongestWait, mailFirstWait * 2 ** Math.min(30, tries - 1));
    await updateMailPutBack(sql, id, { sendAfter: after(now(), wait), problem, tries });
    deps.log.warn({ mail: id, kind, tries, problem }, 'an email was rejected');
    return 'refused';
  }

  /** Not this email's fault: the attempt isn't counted, and the email goes first again. */
  async function waitForServer(
    { id, tries }: MailInHand,
    { message }: MailNotSent,
    pauseBefore: Pause,
  ): Promise<Outcome> {
    await updateMailPutBack(sql, id, { sendAfter: now(), problem: message, tries: tries - 1 });
    if (lastPause !== pauseBefore) return lastPause;
    lastPause = { pause: nextPause };
    nextPause = Math.min(mailServerLongestPause, nextPause * 2);
    deps.log.warn({ problem: message, ...lastPause }, 'the mail server is down');
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
    deps.log.error({ mail: id, kind }, 'an email was given up after a day');
    return 'more';
  }
}

function after(at: Date, time: number): Date {
  return new Date(at.getTime() + time);
}
