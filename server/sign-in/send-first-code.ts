import { insertAuditEvent } from '../audit/audit-event.ts';
import { customersOfEvent } from '../audit/audit-events.ts';
import { tokenHash } from '../crypto/token.ts';
import type { Deps } from '../deps.ts';
import { type CodeReader, sendEmailCode } from '../factors/send-code.ts';
import { findSessionId } from '../sessions/session.ts';
import type { KnownVisitor } from '../sessions/visitor.ts';
import { placeOfVisitor } from '../sessions/visitor.ts';

/** Sends the code of a half session, or records why it isn't sent; the page shows the reason too. */
export async function sendFirstCode(
  deps: Deps,
  user: CodeReader & { customers: readonly { key: string }[] },
  sessionToken: string,
  visitor: KnownVisitor,
): Promise<void> {
  const { address, requestId } = visitor;
  const hash = tokenHash(sessionToken);
  const id = await findSessionId(deps.sql, hash);
  if (id === null) return;
  const result = await sendEmailCode(deps, id, user, placeOfVisitor(visitor));
  if (result.kind === 'sent' || result.retryAfter === null) return;
  const now = deps.now();
  const until = new Date(now.getTime() + result.retryAfter).toISOString();
  const steps = [{ step: 'throttle', outcome: `emails with a code to this account: wait until ${until}` }];
  const { id: userId, username, connectionId } = user;
  const who = { userId, username, ...customersOfEvent(user.customers), ...(connectionId !== null && { connectionId }) };
  await insertAuditEvent(deps.sql, { event: 'code-not-sent', ...who, address, requestId, steps }, now);
}
