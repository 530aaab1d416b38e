import { insertAuditEvent } from '../audit/audit-event.ts';
import { type AuditStep, customersOfEvent } from '../audit/audit-events.ts';
import { newToken, tokenHash } from '../crypto/token.ts';
import { RollBack } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { noteDevice, recallDevice } from '../factors/devices.ts';
import { type CodeReader, sendEmailCode } from '../factors/email-code.ts';
import { findFactorsOfUser } from '../factors/may-change-factors.ts';
import { limits } from '../limits.ts';
import { lockUser } from '../people/portal-user.ts';
import { findSignInUser, type LookUp, type SignInUser } from '../people/sign-in-user.ts';
import { deleteSessionOfBrowser, insertSession } from '../sessions/session.ts';
import { placeOfVisitor, type Visitor } from '../sessions/visitor.ts';
import { deleteThrottles } from '../throttle/throttle.ts';
import { accountKey, deviceKey } from '../throttle/throttle-keys.ts';
import {
  firstFactor,
  isSpared,
  reasonToRefuse,
  type SignInRequest,
  type SignInResult,
  whatIsAsked,
} from './sign-in-rules.ts';

type Verified = { user: SignInUser; lookUp: LookUp; steps: AuditStep[] };

/** Opens a full or half session after a right password; `changed`, with nothing stored, if the user has changed meanwhile. */
export async function openSession(
  deps: Deps,
  request: SignInRequest,
  { user: before, lookUp, steps }: Verified,
): Promise<Extract<SignInResult, { kind: 'signedIn' | 'secondFactor' }> | 'changed'> {
  const { address, browser, requestId } = request;
  const { now, deviceHash } = lookUp;
  const sessionToken = newToken();
  const opened = await deps.sql.begin(async (sql) => {
    // Statements that are sent together run one after the other. The lock on the user comes first: nothing that is read after it
    // changes before the session is stored.
    const [, user, factors, rememberedBy] = await Promise.all([
      lockUser(sql, before.id),
      findSignInUser(sql, lookUp),
      findFactorsOfUser(sql, before.id, { connectionId: null, rpId: deps.config.passkeys?.id ?? null }),
      recallDevice(sql, request, before.id, now),
    ]);
    if (user?.id !== before.id || user.passwordHash !== before.passwordHash || reasonToRefuse(user, true))
      return new RollBack('changed' as const);

    const customers = user.customers.filter(({ admits }) => admits);
    const situation = { ...factors, customers, rememberedBy, setsUpApp: request.setsUpApp };
    const asked = whatIsAsked(situation);
    const isFull = asked.length === 0;
    const isRemembered = isSpared(situation);

    const session = {
      tokenHash: tokenHash(sessionToken),
      userId: user.id,
      waitsFor: asked,
      proof: isRemembered ? 'remembered' : 'password',
      provenAt: now,
      customerIds: customers.map(({ id }) => id),
      address,
      browser,
      now,
      endsAt: new Date(now.getTime() + (isFull ? deps.config.sessionAbsolute : limits.halfSession)),
    } as const;
    const event = {
      event: isFull ? 'signed-in' : 'second-factor-asked',
      userId: user.id,
      username: user.username,
      ...customersOfEvent(customers),
      address,
      browser,
      requestId,
      steps: isRemembered ? [...steps, { step: 'second factor', outcome: 'remembered device' }] : steps,
    } as const;
    const [, sessionId] = await Promise.all([
      deleteSessionOfBrowser(sql, request.sessionHash),
      insertSession(sql, session),
      deleteThrottles(sql, [
        { key: accountKey(user.id) },
        ...(deviceHash ? [{ key: deviceKey(deviceHash, user.id) }] : []),
      ]),
      insertAuditEvent(sql, event, now),
    ]);
    const deviceToken = isFull ? await noteDevice(sql, user, request, { byPassword: true, now }) : null;
    return { user, customers, factors, asked, isRemembered, deviceToken, sessionId };
  });
  if (opened === 'changed') return opened;

  // Null for a half session: its browser is noted once it is full.
  const { user, customers, factors, asked, isRemembered, deviceToken, sessionId } = opened;
  const outcome = deviceToken === null ? 'second-factor-asked' : 'signed-in';
  deps.metrics.signIns.inc({ method: isRemembered ? 'remembered' : 'password', outcome });
  if (deviceToken !== null) {
    // A new browser is told of by email.
    if (deviceToken !== request.deviceToken) deps.wake.mails();
    return { kind: 'signedIn', sessionToken, deviceToken };
  }
  const first = firstFactor(asked, factors);
  if (first.factor === 'email')
    await sendFirstCode(deps, { ...user, customers, connectionId: null }, sessionId, request);
  return { kind: 'secondFactor', ...first, sessionToken };
}

/** Sends the code of a half session, or records why it isn't sent; the page shows the reason too. */
export async function sendFirstCode(
  deps: Deps,
  user: CodeReader & { customers: readonly { key: string }[] },
  sessionId: string,
  visitor: Visitor,
): Promise<void> {
  const { address, requestId } = visitor;
  const result = await sendEmailCode(deps, sessionId, user, placeOfVisitor(visitor));
  if (result.kind === 'sent' || result.retryAfter === null) return;
  const now = deps.now();
  const until = new Date(now.getTime() + result.retryAfter).toISOString();
  const steps = [{ step: 'throttle', outcome: `emails with a code to this account: wait until ${until}` }];
  const { id: userId, username, connectionId } = user;
  const who = { userId, username, ...customersOfEvent(user.customers), ...(connectionId !== null && { connectionId }) };
  await insertAuditEvent(deps.sql, { event: 'code-not-sent', ...who, address, requestId, steps }, now);
}
