import type { Mail } from '../mail/mail.ts';
import type { Connection } from './database.ts';

/** A mail in its row: the token is sealed there, and `tokenHash` is the one of the link that it carries. */
export type MailRow = Omit<Mail, 'token'> & { userId: string; sealedToken: Buffer | null; tokenHash: Buffer | null };

export async function insertMail(sql: Connection, mail: MailRow & { sendAfter: Date }): Promise<void> {
  await sql`
    insert into mail (id, kind, user_id, recipient, language, details, sealed_token, token_hash, queued_at, send_after)
    values (${mail.id}, ${mail.kind}, ${mail.userId}, ${mail.recipient}, ${mail.language}, ${sql.json(mail.details)},
      ${mail.sealedToken}, ${mail.tokenHash}, ${mail.queuedAt}, ${mail.sendAfter})`;
}

/**
 * Takes on the mails that wait longest, `most` of them, in order; none when none is due at `now`. Whoever has them is
 * alone with them until `until`; should he die over them, the next one finds them again then.
 */
export async function takeOnMails(
  sql: Connection,
  { now, until, most }: { now: Date; until: Date; most: number },
): Promise<(MailRow & { tries: number })[]> {
  return await sql<(MailRow & { tries: number })[]>`
    with due as materialized (
      select id from mail where send_after <= ${now} order by send_after, id limit ${most} for update skip locked
    ),
    taken as (
      update mail set send_after = ${until}, tries = tries + 1 from due where mail.id = due.id returning mail.*
    )
    select id, kind, user_id as "userId", recipient, language, details, sealed_token as "sealedToken",
      token_hash as "tokenHash", queued_at as "queuedAt", tries
    from taken order by queued_at, id`;
}

/** Lets go of mails that were taken on and not tried. */
export async function updateMailsLetGo(sql: Connection, ids: readonly string[], now: Date): Promise<void> {
  await sql`
    update mail set send_after = ${now}, tries = tries - 1 where id = any(${ids as string[]}::uuid[])`;
}

/**
 * The mails have left, or are wanted no more. Should the database's machine die within a fraction of a second, they
 * leave a second time; to wait for the disk each time would cost every mail more than that is worth.
 */
export async function deleteMails(sql: Connection, ids: readonly string[]): Promise<void> {
  await sql`
    with quick as materialized (select set_config('synchronous_commit', 'off', true))
    delete from mail using quick where id = any(${ids as string[]}::uuid[])`;
}

/** Puts a mail back that did not leave: when to try again, and why it did not. */
export async function updateMailPutBack(
  sql: Connection,
  id: string,
  { sendAfter, problem, tries }: { sendAfter: Date; problem: string; tries: number },
): Promise<void> {
  await sql`update mail set send_after = ${sendAfter}, problem = ${problem}, tries = ${tries} where id = ${id}`;
}

/** Whether a mail of a kind still waits for a user; one whose link was withdrawn brings nothing and does not count. */
export async function isMailWaiting(sql: Connection, userId: string, kind: Mail['kind']): Promise<boolean> {
  const rows = await sql`
    select from mail m where m.user_id = ${userId} and m.kind = ${kind} and (
      m.token_hash is null or exists (select from reset_link l where l.token_hash = m.token_hash and l.state = 'open')
    )
    limit 1`;
  return rows.length > 0;
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
