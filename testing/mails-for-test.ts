import { type MailContent, queueMail } from '#server/mail/queue-mail.ts';
import type { Outcome } from '#server/worker.ts';
import type { PortalForTest } from './portal-for-test.ts';
import { userId } from './reset-for-test.ts';

/** Queues an email to a user at acme.test. */
export async function queueMailTo(
  portal: PortalForTest,
  username: string,
  more: Partial<MailContent> & { own?: string | null } = {},
): Promise<void> {
  const { own = null, ...content } = more;
  const reader = { id: await userId(portal, username), username, email: `${username}@acme.test`, language: own };
  await queueMail(portal.sql, reader, { kind: 'passwordChanged', now: portal.deps.now(), ...content });
}

/** Sends what is due; returns the result of the last piece of work. */
export async function deliverAll(work: () => Promise<Outcome>): Promise<Outcome> {
  for (;;) {
    const outcome = await work();
    if (outcome !== 'more') return outcome;
  }
}

/** The queued emails. */
export async function waitingMails({ sql }: PortalForTest) {
  return [
    ...(await sql<{ kind: string; tries: number; problem: string | null }[]>`select kind, tries, problem from mail`),
  ];
}

/** Lets emails be sent again. */
export function letLeave({ onSend, mails }: PortalForTest): void {
  onSend(async ({ id, recipient }, words) => void mails.push({ id, recipient, ...words }));
}
