import type { AuditEvent } from '../audit/audit-events.ts';
import { type MailContent, queueMail } from '../mail/queue-mail.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Database } from '../storage/database.ts';
import { deletePasskey } from '../storage/passkey.ts';
import { findActiveUserForChange } from '../storage/portal-user.ts';
import { signOutSessionsByPasskey } from '../storage/session.ts';

/**
 * Removes a passkey of a user, and tells them; whether it was there. `by`: what is known of who did it, and the session that
 * they did it in, which goes on. Nobody can sign in by the passkey any more, and the sessions that it opened end: within ten
 * minutes of the sign-in they could add another.
 */
export async function removePasskey(
  sql: Database,
  { id, user }: { id: string; user: { id: string; username: string } },
  by: Pick<AuditEvent, 'address' | 'requestId' | 'customerKey'> &
    Pick<MailContent, 'language' | 'brand' | 'browser'> & { sessionHash?: Buffer },
  now: Date,
): Promise<boolean> {
  const { language, brand, browser, sessionHash: kept = null, ...event } = by;
  return await sql.begin(async (sql) => {
    const reader = await findActiveUserForChange(sql, user.id);
    const removed = await deletePasskey(sql, { id, userId: user.id });
    if (!removed) return false;
    const steps = [{ step: 'passkey', outcome: `${id}, ${removed.name}` }];
    const ended = await signOutSessionsByPasskey(sql, { userId: user.id, passkeyId: id, kept }, now);
    if (ended > 0) steps.push({ step: 'sessions ended', outcome: String(ended) });
    const who = { userId: user.id, username: user.username };
    await insertAuditEvent(sql, { event: 'passkey-removed', ...who, ...event, steps }, now);
    const place = {
      passkey: removed.name,
      ...(event.address !== undefined && { address: event.address }),
      ...(language && { language }),
      ...(brand && { brand }),
      ...(browser && { browser }),
    };
    if (reader) await queueMail(sql, reader, { kind: 'passkeyRemoved', now, ...place });
    return true;
  });
}
