import { insertAuditEvent } from '../audit/audit-event.ts';
import type { AuditEvent } from '../audit/audit-events.ts';
import type { Connection } from '../database/database.ts';
import { type MailPlace, queueMail } from '../mail/queue-mail.ts';
import { findActiveUserForChange } from '../people/portal-user.ts';
import { endProofsByPasskey } from '../sessions/session.ts';
import { endSessionsOfUser } from '../sessions/session-list.ts';
import { deletePasskey } from './passkey.ts';

/**
 * Removes a passkey of a user in a transaction, and tells them; whether it was there. `by`: what the event and the email say of
 * who did it, and the session that they did it in, which goes on. Nobody can sign in by the passkey any more, and the sessions
 * that it opened end: within ten minutes of the sign-in they could add another. What it has proven elsewhere ends.
 */
export async function removePasskey(
  sql: Connection,
  { id, user }: { id: string; user: { id: string; username: string } },
  by: {
    event?: Pick<AuditEvent, 'address' | 'requestId' | 'customerKey' | 'connectionId'>;
    mail?: MailPlace;
    sessionId?: string;
  },
  now: Date,
): Promise<boolean> {
  const { id: userId, username } = user;
  const reader = await findActiveUserForChange(sql, userId);
  const removed = await deletePasskey(sql, { id, userId });
  if (!removed) return false;
  const steps = [{ step: 'passkey', outcome: `${id}, ${removed.name}` }];
  const kept = by.sessionId ?? null;
  const ended = await endSessionsOfUser(sql, userId, { passkeyId: id, kept });
  await endProofsByPasskey(sql, userId, kept);
  if (ended > 0) steps.push({ step: 'sessions ended', outcome: String(ended) });
  await insertAuditEvent(sql, { ...by.event, event: 'passkey-removed', userId, username, steps }, now);
  if (reader) await queueMail(sql, reader, { kind: 'passkeyRemoved', now, passkey: removed.name, ...by.mail });
  return true;
}
