import { accountFields } from '#contract/account.ts';
import type { Language } from '#contract/languages.ts';
import { type AuditEvent, customersOfEvent } from '../audit/audit-events.ts';
import { tokenHash } from '../crypto/token.ts';
import type { Connection } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import type { MailPlace } from '../mail/queue-mail.ts';
import { findActiveUserForChange } from '../people/portal-user.ts';
import { type FullSession, isSessionThereForUpdate } from '../sessions/session.ts';
import type { KnownVisitor } from '../sessions/visitor.ts';
import { placeOfVisitor } from '../sessions/visitor.ts';
import { type Account, findAccount } from './account.ts';

/** A signed-in person on their account page. */
export type AccountVisit = {
  visitor: KnownVisitor;
  sessionToken: string;
  sessionHash: Buffer;
  session: FullSession;
  account: Account;
};

/** The visit of a full session; null if there is none, or it has ended meanwhile. */
export async function accountVisitOf(deps: Deps, visitor: KnownVisitor): Promise<AccountVisit | null> {
  const who = await visitor.who();
  const { sessionToken } = visitor;
  if (who.kind !== 'full' || sessionToken === null) return null;
  const sessionHash = tokenHash(sessionToken);
  const { session } = who;
  const account = await findAccount(deps.sql, session.id, deps.now());
  return account && { visitor, sessionToken, sessionHash, session, account };
}

/** Whether a form is on a page of this session, and not of somebody who was signed in here before. */
export function isFormOf({ session }: AccountVisit, fields: Partial<Record<string, string>>): boolean {
  return fields[accountFields.sessionId] === session.id;
}

/** As a change of their account needs them. */
export type Person = { id: string; username: string; email: string; language: Language | null };

/**
 * Locks the person of a visit and then their session until the transaction ends, and returns the person; null if they are
 * inactive by now, or the session has ended or goes by another token.
 */
export async function personForChange(sql: Connection, { session, sessionHash }: AccountVisit): Promise<Person | null> {
  const person = await findActiveUserForChange(sql, session.userId);
  return person && (await isSessionThereForUpdate(sql, sessionHash)) ? person : null;
}

/** Who does something on their account page, and from where, for its event. */
export function personOf({ session, visitor }: AccountVisit): Omit<AuditEvent, 'event'> & { requestId: string } {
  const { userId, username, customers, connectionId } = session;
  return {
    userId,
    username,
    ...customersOfEvent(customers.map((key) => ({ key }))),
    ...(connectionId !== null && { connectionId }),
    address: visitor.address,
    requestId: visitor.requestId,
  };
}

/** What an email says of where a change was made. */
export function placeOf({ visitor }: AccountVisit): MailPlace {
  return placeOfVisitor(visitor);
}
