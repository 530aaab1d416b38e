import { randomUUID } from 'node:crypto';
import { type Language, languageOfTag } from '#contract/languages.ts';
import { seal } from '../secrets/sealed.ts';
import type { Connection } from '../storage/database.ts';
import { insertMail } from '../storage/mail.ts';
import type { MailDetails, MailKind } from './mail.ts';

/** To whom a mail goes: the address is that of the account. */
export type MailReader = { id: string; username: string; email: string; language: string | null };

/** What a mail tells besides who reads it. */
export type MailContent = Omit<MailDetails, 'username' | 'at'> & {
  kind: MailKind;
  now: Date;
  /** Where the reader has not chosen one. */
  language?: Language;
  /** How long it stays at least, in milliseconds. */
  delay?: number;
};

/** The token or code that a mail brings, and the hash under which it is stored where it counts. */
export type Carried = { token: string; tokenHash: Buffer; keys: readonly Buffer[] };

/**
 * Puts a mail into the queue, in the transaction of what it tells of: it is sent if that happened, and only then. What
 * it carries waits sealed, so that who reads the database cannot use it.
 */
export async function queueMail(
  sql: Connection,
  reader: MailReader,
  { kind, now, language, delay = 0, ...details }: MailContent,
  carried?: Carried,
): Promise<void> {
  const id = randomUUID();
  await insertMail(sql, {
    id,
    kind,
    userId: reader.id,
    recipient: reader.email,
    language: languageOfTag(reader.language ?? '') ?? language ?? 'en',
    details: { username: reader.username, at: now.toISOString(), ...details },
    queuedAt: now,
    sendAfter: new Date(now.getTime() + delay),
    sealedToken: carried ? seal(carried.keys, carried.token, sealedPlace(id)) : null,
    tokenHash: carried?.tokenHash ?? null,
  });
}

/** Where the token of a mail is sealed for. */
export function sealedPlace(mailId: string): string {
  return `mail:${mailId}`;
}
