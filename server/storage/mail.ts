import type { Connection } from './database.ts';
import type { Mail } from './mail-kinds.ts';

/** An email row: the token is sealed there, and `tokenHash` is that of the link it carries. */
export type MailRow = Omit<Mail, 'token'> & { userId: string; sealedToken: Buffer | null; tokenHash: Buffer | null };

/** An email in hand: `tries` counts this attempt. */
export type MailInHand = MailRow & { tries: number; isWaitedFor: boolean };

export async function insertMail(sql: Connection, mail: MailRow & { sendAfter: Date }): Promise<void> {
  await sql`
    insert into mail (id, kind, user_id, recipient, language, details, sealed_token, token_hash, queued_at, send_after)
    values (${mail.id}, ${mail.kind}, ${mail.userId}, ${mail.recipient}, ${mail.language}, ${JSON.stringify(mail.details)},
      ${mail.sealedToken}, ${mail.tokenHash}, ${mail.queuedAt}, ${mail.sendAfter})`;
}

/** A condition: somebody waits for an email before they can go on. As in the index mail_by_turn. */
const isWaitedFor = (sql: Connection) =>
  sql`mail.kind in ('signInCode', 'resetLink', 'singleSignOnHint', 'passkeyHint', 'noReset')`;

/** Whether an email is due that somebody waits for. */
export async function isMailWaitedFor(sql: Connection, now: Date): Promise<boolean> {
  return (await sql`select from mail where ${isWaitedFor(sql)} and send_after <= ${now} limit 1`).length > 0;
}

/**
 * Claims the oldest queued emails, those that somebody waits for before all others, at most `most`, in order; none if none is
 * due at `now`. The claim is exclusive until `until`; if the owner dies, another can claim them after that.
 */
export async function takeOnMails(
  sql: Connection,
  { now, until, most }: { now: Date; until: Date; most: number },
): Promise<MailInHand[]> {
  return await sql<MailInHand[]>`
    with due as materialized (
      select id from mail where send_after <= ${now}
      order by ${isWaitedFor(sql)} desc, send_after, id limit ${most} for update skip locked
    ),
    taken as (
      update mail set send_after = ${until}, tries = tries + 1 from due where mail.id = due.id
      returning mail.*, ${isWaitedFor(sql)} as is_waited_for
    )
    select id, kind, user_id as "userId", recipient, language, details, sealed_token as "sealedToken",
      token_hash as "tokenHash", queued_at as "queuedAt", tries, is_waited_for as "isWaitedFor"
    from taken order by is_waited_for desc, queued_at, id`;
}

/** Releases emails that were claimed but not tried. */
export async function updateMailsLetGo(sql: Connection, ids: readonly string[], now: Date): Promise<void> {
  await sql`
    update mail set send_after = ${now}, tries = tries - 1 where id = any(${ids as string[]}::uuid[])`;
}

/**
 * Deletes emails that were sent or are no longer wanted. If the database host dies within a fraction of a second, they
 * are sent twice; waiting for the disk each time would cost every email more than that is worth.
 */
export async function deleteMails(sql: Connection, ids: readonly string[]): Promise<void> {
  await sql`
    with quick as materialized (select set_config('synchronous_commit', 'off', true))
    delete from mail using quick where id = any(${ids as string[]}::uuid[])`;
}

/** Requeues an email that was not sent: when to try again, and why it failed. */
export async function updateMailPutBack(
  sql: Connection,
  id: string,
  { sendAfter, problem, tries }: { sendAfter: Date; problem: string; tries: number },
): Promise<void> {
  await sql`update mail set send_after = ${sendAfter}, problem = ${problem}, tries = ${tries} where id = ${id}`;
}

/** Whether an email of a kind is still queued for a user; one whose link was replaced does not count. */
export async function isMailWaiting(sql: Connection, userId: string, kind: Mail['kind']): Promise<boolean> {
  const rows = await sql`
    select from mail m where m.user_id = ${userId} and m.kind = ${kind} and (
      m.token_hash is null or exists (select from reset_link l where l.token_hash = m.token_hash and l.used_at is null and l.ends_at > l.made_at)
    )
    limit 1`;
  return rows.length > 0;
}

/** Since when the oldest queued email waits. */
export async function oldestMail(sql: Connection): Promise<Date | null> {
  const [row] = await sql<{ oldestAt: Date | null }[]>`select min(queued_at) as "oldestAt" from mail`;
  return row?.oldestAt ?? null;
}
