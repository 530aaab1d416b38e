import type { Mail } from '../mail/mail.ts';
import type { Connection } from './connect.ts';

/** A mail in its row: the token is sealed there, and `tokenHash` is the one of the link that it carries. */
export type MailRow = Omit<Mail, 'token'> & { userId: string; sealedToken: Buffer | null; tokenHash: Buffer | null };

export async function insertMail(sql: Connection, mail: MailRow & { sendAfter: Date }): Promise<void> {
  await sql`
    insert into mail (id, kind, user_id, recipient, language, details, sealed_token, token_hash, queued_at, send_after)
    values (${mail.id}, ${mail.kind}, ${mail.userId}, ${mail.recipient}, ${mail.language}, ${sql.json(mail.details)},
      ${mail.sealedToken}, ${mail.tokenHash}, ${mail.queuedAt}, ${mail.sendAfter})`;
}

/**
 * Takes on the mail that waits longest, or null when none is due at `now`. Whoever has it is alone with it until
 * `until`; should he die over it, the next one finds it again then.
 */
export async function takeOnMail(
  sql: Connection,
  now: Date,
  until: Date,
): Promise<(MailRow & { tries: number }) | null> {
  const [row] = await sql<(MailRow & { tries: number })[]>`
    update mail set send_after = ${until}, tries = tries + 1 where id = (
      select id from mail where send_after <= ${now} order by send_after limit 1 for update skip locked
    )
    returning id, kind, user_id as "userId", recipient, language, details, sealed_token as "sealedToken",
      token_hash as "tokenHash", queued_at as "queuedAt", tries`;
  return row ?? null;
}

/** The mail has left, or is wanted no more. */
export async function deleteMail(sql: Connection, id: string): Promise<void> {
  await sql`delete from mail where id = ${id}`;
}

/** Puts a mail back that did not leave: when to try again, and why it did not. */
export async function updateMailPutBack(
  sql: Connection,
  id: string,
  { sendAfter, problem, tries }: { sendAfter: Date; problem: string; tries: number },
): Promise<void> {
  await sql`update mail set send_after = ${sendAfter}, problem = ${problem}, tries = ${tries} where id = ${id}`;
}

/** Whether a mail of a kind still waits for a user. */
export async function isMailWaiting(sql: Connection, userId: string, kind: Mail['kind']): Promise<boolean> {
  return (await sql`select from mail where user_id = ${userId} and kind = ${kind} limit 1`).length > 0;
}

/** Drops the mails of a kind that wait for a user. */
export async function deleteMailsOfUser(sql: Connection, userId: string, kind: Mail['kind']): Promise<void> {
  await sql`delete from mail where user_id = ${userId} and kind = ${kind}`;
}

export type WaitingMails = { count: number; oldestAt: Date | null };

/** How many mails wait, and since when the oldest does. */
export async function countWaitingMails(sql: Connection): Promise<WaitingMails> {
  const [row] = await sql<WaitingMails[]>`
    select count(*) as count, min(queued_at) as "oldestAt" from mail`;
  return row ?? { count: 0, oldestAt: null };
}
