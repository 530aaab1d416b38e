import { insertEventOnceAMinute } from '../audit/audit-event.ts';
import { type AuditEvent, type AuditStep, customersOfEvent, type RefusalReason } from '../audit/audit-events.ts';
import { newReference } from '../audit/reference.ts';
import { hashPassword, isHashOutdated, WorkQueueFull } from '../crypto/password-hash.ts';
import type { Deps } from '../deps.ts';
import { updateOutdatedHash } from '../people/portal-user.ts';
import { insertRefusal, type SignInUser } from '../people/sign-in-user.ts';
import { addressKeys, networkOf, recordKey } from '../throttle/throttle-keys.ts';
import { openSession } from './open-session.ts';
import type { SignInRequest, SignInResult } from './sign-in-rules.ts';
import { reasonToRefuse, stepsOf } from './sign-in-rules.ts';
import { tryPassword } from './try-password.ts';

/** Checks a username or email and a password, and opens a session. Every refusal does the same work, and writes one event. */
export async function signIn(deps: Deps, request: SignInRequest): Promise<SignInResult> {
  const { address } = request;
  const tried = await tryPassword(deps, request);
  if (tried.kind === 'addressWaits') return await throttled(deps, request, tried.until);
  const { user, lookUp, isKnownDevice, mayTry, isRight } = tried;
  const steps = stepsOf(user, { mayTry, isRight, address });
  const throttledReason = isKnownDevice ? 'throttled-device' : 'throttled-account';
  const reason = mayTry ? reasonToRefuse(user, isRight) : throttledReason;
  if (reason || !user) return await refused(deps, request, user, reason ?? 'unknown-user', steps);

  const opened = await openSession(deps, request, { user, lookUp, steps });
  // The user has changed since they were read: check again.
  if (opened === 'changed') return await signIn(deps, request);
  if (user.passwordHash !== null && isHashOutdated(user.passwordHash))
    await renewHash(deps, { id: user.id, outdated: user.passwordHash }, request);
  return opened;
}

/** Hashes the password, known only now, with today's parameters. If too many hashes wait, the next sign-in does it. */
async function renewHash(
  { sql }: Deps,
  { id, outdated }: { id: string; outdated: string },
  { password, address }: SignInRequest,
): Promise<void> {
  try {
    await updateOutdatedHash(sql, id, outdated, await hashPassword(password, networkOf(address)));
  } catch (error) {
    if (!(error instanceof WorkQueueFull)) throw error;
  }
}

async function refused(
  deps: Deps,
  { address, browser, requestId }: SignInRequest,
  user: SignInUser | null,
  reason: RefusalReason,
  steps: AuditStep[],
): Promise<SignInResult> {
  const reference = newReference();
  const who = user && { userId: user.id, username: user.username, ...customersOfEvent(user.customers) };
  const place = { address, browser, requestId };
  const event = { event: 'sign-in-refused', reason, reference, ...place, steps, ...who } satisfies AuditEvent;
  // Failures of a known browser count for that browser alone. A refused network does not count, since its page says that the
  // password was right; every other refusal looks like a wrong password and counts like one.
  const keys = user?.deviceKnown || reason === 'network' ? [] : addressKeys(address);
  await insertRefusal(deps.sql, event, keys, deps.now());
  deps.metrics.signIns.inc({ method: 'password', outcome: reason });
  return { kind: reason === 'network' ? 'networkRefused' : 'refused', reference };
}

async function throttled(deps: Deps, request: SignInRequest, waitUntil: Date): Promise<SignInResult> {
  const now = deps.now();
  const event = {
    event: 'sign-in-refused',
    reason: 'throttled-address',
    address: request.address,
    requestId: request.requestId,
    steps: [{ step: 'throttle', outcome: `failures from this origin: wait until ${waitUntil.toISOString()}` }],
  } satisfies AuditEvent;
  const reference = await insertEventOnceAMinute(deps.sql, event, recordKey('throttled', request.address), now);
  deps.metrics.signIns.inc({ method: 'password', outcome: 'throttled-address' });
  return { kind: 'throttled', retryAfter: waitUntil.getTime() - now.getTime(), reference };
}
