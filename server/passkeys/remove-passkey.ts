import type { AuditEvent } from '../audit/audit-events.ts';
import { type MailContent, queueMail } from '../mail/queue-mail.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Database } from '../storage/database.ts';
import { deletePasskey } from '../storage/passkey.ts';
import { findActiveUserForChange } from '../storage/portal-user.ts';

/**
 * Removes a passkey of a user, and tells them; whether it was there. `by`: what is known of who did it. Nobody can sign in by
 * it any more; sessions stay.
 */
export async function removePasskey(
  sql: Database,
  { id, user }: { id: string; user: { id: string; username: string } },
  by: Pick<AuditEvent, 'address' | 'requestId' | 'customerKey'> & Pick<MailContent, 'language' | 'brand' | 'browser'>,
  now: Date,
): Promise<boolean> {
  const { language, brand, browser, ...event } = by;
  return await sql.begin(async (sql) => {
    const reader = await findActiveUserForChange(sql, user.id);
    const removed = await deletePasskey(sql, { id, userId: user.id });
    if (!removed) return false;
    const steps = [{ step: 'passkey', outcome: `${id}, ${removed.name}` }];
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
