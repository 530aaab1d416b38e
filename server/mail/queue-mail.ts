import { randomUUID } from 'node:crypto';
import { type Language, languageOfTag } from '#contract/languages.ts';
import { browserName } from '../names/browser-name.ts';
import { seal } from '../secrets/sealed.ts';
import type { Connection } from '../storage/database.ts';
import { insertMail } from '../storage/mail.ts';
import type { MailDetails, MailKind } from '../storage/mail-kinds.ts';
import { countAttempt } from '../storage/throttle.ts';
import { noticeKey } from '../storage/throttle-keys.ts';
import type { KnownVisitor } from '../visitor/visitor.ts';

/** The recipient: the address is that of the account. */
export type MailReader = { id: string; username: string; email: string; language: string | null };

/** The content of an email, apart from its reader. */
export type MailContent = Omit<MailDetails, 'username' | 'at'> & {
  kind: MailKind;
  now: Date;
  /** Used if the reader has not chosen one. */
  language?: Language;
  /** Minimum time before sending, in milliseconds. */
  delay?: number;
};

/** What an email says of where its event happened. */
export type MailPlace = Pick<MailContent, 'address' | 'browser' | 'language'>;

/** The token or code in an email, and the hash under which it is stored elsewhere. */
export type Carried = { token: string; tokenHash: Buffer; keys: readonly Buffer[] };

/** What can be repeated at will, without a proof or with a right password only: of these an account gets some an hour. */
const counted: readonly MailKind[] = ['newDevice', 'sessionsEnded', 'devicesForgotten'];

/**
 * Queues an email in the transaction of its event, so that it is sent only if that commits. Its token is stored sealed,
 * so that reading the database isn't enough to use it. One too many of a counted kind is left out: what it would tell of
 * has happened, and the ones before have told of the same. Its count is locked, so nothing else is locked after this.
 */
export async function queueMail(
  sql: Connection,
  reader: MailReader,
  { kind, now, language, delay = 0, ...details }: MailContent,
  carried?: Carried,
): Promise<void> {
  if (counted.includes(kind) && (await countAttempt(sql, [noticeKey(kind, reader.id)], now))) return;
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

type VisitorOfMail = Pick<KnownVisitor, 'address' | 'language' | 'userAgent'>;

/** What an email says of a visitor: where they are and in which browser. */
export function placeOfVisitor({ address, language, userAgent }: VisitorOfMail): MailPlace {
  const browser = browserName(userAgent);
  return { address, language, ...(browser && { browser }) };
}

/** Binding (additional data) for the token of an email. */
export function sealedPlace(mailId: string): string {
  return `mail:${mailId}`;
}
