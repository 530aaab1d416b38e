import { customersOfEvent } from '../audit/audit-events.ts';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { placeOfVisitor } from '../mail/queue-mail.ts';
import { tokenHash } from '../secrets/token.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Connection } from '../storage/database.ts';
import { findOpenFactor } from '../storage/email-before-app.ts';
import { isEmailFactorConfirmed } from '../storage/email-code.ts';
import { keepNewestOfPress } from '../storage/half-session.ts';
import type { OpenFactor, SecondFactor } from '../storage/second-factor.ts';
import { findSessionId } from '../storage/session.ts';
import { type CodeReader, sendEmailCode } from '../two-factor/send-email-code.ts';
import { browserHash } from '../visitor/browser-hash.ts';
import type { KnownVisitor } from '../visitor/visitor.ts';

export async function openFactor(
  sql: Connection,
  user: { id: string; hasApp: boolean },
  factor: SecondFactor,
): Promise<OpenFactor> {
  return { factor, mustRegister: factor === 'app' ? !user.hasApp : !(await isEmailFactorConfirmed(sql, user.id)) };
}

/** What a half session that was just stored asks for: before the registration of an app possibly a code by email. */
export async function firstStep(sql: Connection, waitsFor: OpenFactor, sessionToken: string): Promise<OpenFactor> {
  if (waitsFor.factor !== 'app' || !waitsFor.mustRegister) return waitsFor;
  const id = await findSessionId(sql, tokenHash(sessionToken));
  return (id && (await findOpenFactor(sql, id))) || waitsFor;
}

/**
 * Sends the code of a half session, or records why it isn't sent; the page shows the reason too. Submitting twice
 * creates two half sessions, and the browser keeps the second one: the older one ends, so its email is not sent. Half
 * sessions of other browsers stay.
 */
export async function sendFirstCode(
  deps: Deps,
  user: CodeReader & { customers: readonly { key: string }[] },
  sessionToken: string,
  visitor: KnownVisitor,
): Promise<void> {
  const { address, requestId } = visitor;
  const hash = tokenHash(sessionToken);
  const isKept = await keepNewestOfPress(
    deps.sql,
    { userId: user.id, connectionId: user.connectionId },
    { tokenHash: hash, address, browserHash: browserHash(visitor), within: limits.samePress },
  );
  if (!isKept) return;
  const id = await findSessionId(deps.sql, hash);
  if (id === null) return;
  const result = await sendEmailCode(deps, id, user, { ...placeOfVisitor(visitor), delay: limits.samePress });
  if (result.kind === 'sent' || result.retryAfter === null) return;
  const now = deps.now();
  const until = new Date(now.getTime() + result.retryAfter).toISOString();
  const steps = [{ step: 'throttle', outcome: `emails with a code to this account: wait until ${until}` }];
  const { id: userId, username, connectionId } = user;
  const who = { userId, username, ...customersOfEvent(user.customers), ...(connectionId !== null && { connectionId }) };
  await insertAuditEvent(deps.sql, { event: 'code-not-sent', ...who, address, requestId, steps }, now);
}
