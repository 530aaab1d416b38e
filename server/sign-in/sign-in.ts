import { insertEventOnceAMinute } from '../audit/audit-event.ts';
import { type AuditEvent, type AuditStep, customersOfEvent, type RefusalReason } from '../audit/audit-events.ts';
import { newReference } from '../audit/reference.ts';
import { keyedDigest } from '../crypto/keys.ts';
import {
  hashPassword,
  isHashOutdated,
  refuseWhenHashesWait,
  verifyPassword,
  WorkQueueFull,
} from '../crypto/password-hash.ts';
import { tokenHash } from '../crypto/token.ts';
import type { Deps } from '../deps.ts';
import { limits } from '../limits.ts';
import { foldLoginName } from '../names/read-name.ts';
import { updateOutdatedHash } from '../people/portal-user.ts';
import { findSignInUser, insertRefusal, type SignInUser } from '../people/sign-in-user.ts';
import { admitAddress, countGuess } from '../throttle/throttle.ts';
import { accountKey, addressKeys, deviceKey, networkOf, recordKey, unknownNameKey } from '../throttle/throttle-keys.ts';
import { openSession } from './open-session.ts';
import type { SignInRequest, SignInResult } from './sign-in-rules.ts';
import { reasonToRefuse, stepsOf } from './sign-in-rules.ts';

/**
 * Checks a username or email and a password, and opens a session. Every refusal does the same work, so that its time
 * reveals nothing: one read, one count, one argon2id, one write. Refused before is only an address that
 * has to wait, and everybody while too many hashes wait: then it throws WorkQueueFull.
 */
export async function signIn(deps: Deps, request: SignInRequest): Promise<SignInResult> {
  const { sql } = deps;
  const { password, address } = request;
  const network = networkOf(address);
  refuseWhenHashesWait(network);
  const now = deps.now();

  const fold = foldLoginName(request.username);
  const deviceHash = request.deviceToken ? tokenHash(request.deviceToken) : null;
  const lookUp = { fold, address, deviceHash, now };
  const user = await findSignInUser(sql, lookUp);

  const isKnownDevice = user?.deviceKnown === true && deviceHash !== null;
  const waitUntil = isKnownDevice ? null : await admitAddress(sql, addressKeys(address), now);
  if (waitUntil) return await throttled(deps, request, waitUntil, now);
  const counter = isKnownDevice
    ? { key: deviceKey(deviceHash, user.id), limit: limits.throttle.device }
    : { key: user ? accountKey(user.id) : unknownNameKey(fold), limit: limits.throttle.account };
  const mayTry = await countGuess(sql, counter, keyedDigest(deps.keys.guess, `${fold}\n${password}`), now);

  // Without a hash a decoy is verified, which takes the same time.
  const isRight = await verifyPassword(mayTry ? (user?.passwordHash ?? null) : null, password, network);
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

async function throttled(deps: Deps, request: SignInRequest, waitUntil: Date, now: Date): Promise<SignInResult> {
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
