import { type MailContent, queueMail } from '#server/mail/queue-mail.ts';
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

/** The queued emails. */
export async function waitingMails({ sql }: PortalForTest) {
  return [
    ...(await sql<{ kind: string; tries: number; problem: string | null }[]>`
      select payload->>'kind' as kind, tries, problem from job where queue = 'mail'`),
  ];
}

/** Lets emails be sent again. */
export function letLeave({ onSend, mails }: PortalForTest): void {
  onSend(async ({ id, recipient }, words) => void mails.push({ id, recipient, ...words }));
}
