import { randomUUID } from 'node:crypto';
import { type Language, languageOfTag } from '#contract/languages.ts';
import { seal } from '../crypto/keys.ts';
import type { Connection } from '../database/database.ts';
import { insertJob } from '../jobs/job.ts';
import { isWaitedFor, type Mail, type MailDetails, type MailKind } from '../people/mail-kinds.ts';
import { countAttempt } from '../throttle/throttle.ts';
import { noticeKey } from '../throttle/throttle-keys.ts';

export const mailQueueName = 'mail';

/** An email as its job keeps it. */
export type QueuedMail = Pick<Mail, 'kind' | 'recipient' | 'language' | 'details'>;

/** The recipient: the address is that of the account. */
export type MailReader = { id: string; username: string; email: string; language: string | null };

/** The content of an email, apart from its reader. */
export type MailContent = Omit<MailDetails, 'username' | 'at'> & {
  kind: MailKind;
  now: Date;
  /** Used if the reader has not chosen one. */
  language?: Language;
};

/** What an email says of where its event happened. */
export type MailPlace = Pick<MailContent, 'address' | 'browser' | 'language'>;

/** The token or code in an email, and the hash under which it is stored elsewhere. */
export type Carried = { token: string; tokenHash: Buffer; keys: readonly Buffer[] };

/** What can be repeated at will, without a proof or with a right password only: of these an account gets some an hour. */
const counted: readonly MailKind[] = ['newDevice', 'sessionsEnded', 'devicesForgotten'];

/**
 * Queues an email in the transaction of its event, its token sealed. One too many of a counted kind is left out: the ones
 * before have told of the same. Its count is locked, so nothing else is locked after this.
 */
export async function queueMail(
  sql: Connection,
  reader: MailReader,
  { kind, now, language, ...details }: MailContent,
  carried?: Carried,
): Promise<void> {
  if (counted.includes(kind) && (await countAttempt(sql, [noticeKey(kind, reader.id)], now))) return;
  const id = randomUUID();
  const mail: QueuedMail = {
    kind,
    recipient: reader.email,
    language: languageOfTag(reader.language ?? '') ?? language ?? 'en',
    details: { username: reader.username, at: now.toISOString(), ...details },
  };
  await insertJob(sql, {
    id,
    queue: mailQueueName,
    isWaitedFor: isWaitedFor(kind),
    payload: mail,
    userId: reader.id,
    madeAt: now,
    ...(carried && {
      sealedToken: seal(carried.keys, carried.token, sealedPlace(id)),
      tokenHash: carried.tokenHash,
    }),
  });
}

/** Binding (additional data) for the token of an email. */
export function sealedPlace(mailId: string): string {
  return `mail:${mailId}`;
}
