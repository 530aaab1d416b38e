import { type AuditEvent, type AuditStep, customersOfEvent, type RefusalReason } from '../audit/audit-events.ts';
import { newReference } from '../audit/reference.ts';
import type { Deps } from '../deps/deps.ts';
import { foldLoginName } from '../names/fold-name.ts';
import { hashPassword, isHashOutdated, refuseWhenHashesWait, verifyPassword } from '../secrets/password-hash.ts';
import { keyedDigest } from '../secrets/server-secret.ts';
import { tokenHash } from '../secrets/token.ts';
import { findPasswordHash, updateOutdatedHash } from '../storage/portal-user.ts';
import {
  beginSignIn,
  findFactorsOfUser,
  insertEventOnceAMinute,
  insertRefusal,
  type SignInAttempt,
  type SignInCustomer,
} from '../storage/sign-in.ts';
import { originKeys, recordKey, type ThrottleKey, turnOf, unknownNameKey } from '../storage/throttle-keys.ts';
import { letThrough, type RightUser } from './let-through.ts';
import type { SignInRequest, SignInResult } from './sign-in-result.ts';

/**
 * Checks a username or email and a password, and creates a session (decisions §7). Every refusal does the same work:
 * one read, one argon2id, one write. `retryAfter` is in milliseconds. Throws WorkQueueFull if too many sign-ins are
 * waiting.
 */
export async function signIn(deps: Deps, request: SignInRequest): Promise<SignInResult> {
  const turn = turnOf(request.address);
  refuseWhenHashesWait(turn);
  const now = request.arrivedAt;
  const fold = foldLoginName(request.username);
  const origin = originKeys(request.address);
  const deviceHash = request.deviceToken ? tokenHash(request.deviceToken) : null;
  const guess = keyedDigest(deps.keys.guess, `${fold}\n${request.password}`);
  const attempt = await beginSignIn(deps.sql, {
    fold,
    unknownNameKey: unknownNameKey(fold),
    originKeys: origin,
    address: request.address,
    deviceHash,
    guess,
    now,
  });
  if (attempt.originBlockedUntil) return await throttled(deps, request, attempt.originBlockedUntil, now);

  const userHash = attempt.admitted ? (attempt.user?.passwordHash ?? null) : null;
  const passwordRight = await verifyPassword(userHash, request.password, turn);
  const steps = stepsOf(attempt, passwordRight, request.address);
  const admitting = attempt.user?.customers.filter((customer) => customer.admits) ?? [];
  const reason = reasonToRefuse(attempt, passwordRight, admitting);
  if (reason) return await refused(deps, request, attempt, reason, steps, origin);

  let user = attempt.user as RightUser;
  for (let round = 1; round <= mostRounds; round += 1) {
    const right = { user, admitting, attempt, steps };
    const result = await letThrough(deps, request, right, now);
    if (result.kind === 'signedIn' || result.kind === 'secondFactor') {
      if (isHashOutdated(user.passwordHash)) await renewHash(deps, user, request);
      deps.metrics.signIns.inc(labelsOf(result));
      return result;
    }
    const changed =
      result.kind === 'otherFactors'
        ? await findFactorsOfUser(deps.sql, user.id)
        : await renewedHash(deps, user, request);
    if (!changed) break;
    user = { ...user, ...changed };
  }
  return await refused(deps, request, attempt, 'changed-meanwhile', steps, origin);
}

/** How often a sign-in restarts because its user changed, which takes an operator, the user, or another sign-in. */
const mostRounds = 3;

/** How the metrics count a right password. */
function labelsOf(result: { kind: 'signedIn' | 'secondFactor'; isRemembered: boolean }) {
  if (result.kind === 'secondFactor') return { way: 'password', outcome: 'second-factor-asked' };
  return { way: result.isRemembered ? 'remembered' : 'password', outcome: 'signed-in' };
}

/** Only now is the password known in plain text: it is rehashed with current parameters. */
async function renewHash(
  deps: Deps,
  user: { id: string; passwordHash: string },
  { password, address }: SignInRequest,
): Promise<void> {
  const renewed = await hashPassword(password, turnOf(address));
  await updateOutdatedHash(deps.sql, user.id, user.passwordHash, renewed);
}

/**
 * The hash that replaced the verified one, if it is of the same password: another sign-in renews an outdated hash too.
 * It is verified like the first one, so an old password is refused once there is a new one.
 */
async function renewedHash(
  deps: Deps,
  user: RightUser,
  { password, address }: SignInRequest,
): Promise<{ passwordHash: string } | null> {
  const passwordHash = await findPasswordHash(deps.sql, user.id);
  if (passwordHash === null || passwordHash === user.passwordHash) return null;
  return (await verifyPassword(passwordHash, password, turnOf(address))) ? { passwordHash } : null;
}

/** Why the attempt is refused, or null. Checks follow the order of the steps an operator reads. */
function reasonToRefuse(
  attempt: SignInAttempt,
  passwordRight: boolean,
  admitting: readonly SignInCustomer[],
): RefusalReason | null {
  const { user, admitted, deviceKnown } = attempt;
  if (!admitted) return deviceKnown ? 'throttled-device' : 'throttled-account';
  if (!user) return 'unknown-user';
  if (user.passwordHash === null) return 'no-password';
  if (!passwordRight) return 'wrong-password';
  if (!user.active) return 'inactive';
  if (user.customers.length === 0) return 'no-customer';
  if (user.ssoRequired) return 'single-sign-on-required';
  if (user.passkeyRequired) return 'passkey-required';
  if (admitting.length === 0) return 'network';
  return null;
}

async function refused(
  deps: Deps,
  request: SignInRequest,
  { user, deviceKnown }: SignInAttempt,
  reason: RefusalReason,
  steps: AuditStep[],
  origin: readonly ThrottleKey[],
): Promise<SignInResult> {
  const reference = newReference();
  deps.metrics.signIns.inc({ way: 'password', outcome: reason });
  await insertRefusal(
    deps.sql,
    {
      event: 'sign-in-refused',
      reason,
      reference,
      address: request.address,
      requestId: request.requestId,
      steps,
      ...(user && { userId: user.id, username: user.username, ...customersOfEvent(user.customers) }),
    },
    // A known browser's failures count only on that browser, and a right password is no guess.
    deviceKnown || reason === 'network' ? [] : origin,
    deps.now(),
  );
  return { kind: reason === 'network' ? 'networkRefused' : 'refused', reference };
}

async function throttled(deps: Deps, request: SignInRequest, until: Date, now: Date): Promise<SignInResult> {
  const event = {
    event: 'sign-in-refused',
    reason: 'throttled-address',
    address: request.address,
    requestId: request.requestId,
    steps: [{ step: 'throttle', outcome: `failures from this origin: wait until ${until.toISOString()}` }],
  } satisfies AuditEvent;
  const reference = await insertEventOnceAMinute(deps.sql, event, recordKey('throttled', request.address), now);
  deps.metrics.signIns.inc({ way: 'password', outcome: 'throttled-address' });
  return { kind: 'throttled', retryAfter: until.getTime() - now.getTime(), reference };
}

/** The decisions as `vestibule explain` shows them to an operator. */
function stepsOf({ user, deviceKnown, admitted }: SignInAttempt, passwordRight: boolean, address: string): AuditStep[] {
  const looked = user?.passwordHash == null ? 'the user has none' : passwordRight ? 'right' : 'wrong';
  return [
    { step: 'account', outcome: user ? `found: ${user.username}` : 'no user has this name' },
    { step: 'browser', outcome: deviceKnown ? 'signed in before as this user' : 'not known' },
    { step: 'throttle', outcome: admitted ? 'may continue' : 'too many failures, must wait' },
    ...(user ? [{ step: 'password', outcome: admitted ? looked : 'not checked' }] : []),
    ...(user && passwordRight
      ? [
          { step: 'active', outcome: user.active ? 'yes' : 'no' },
          { step: 'customers', outcome: user.customers.map(({ key }) => key).join(', ') || 'none' },
          ...user.customers.map(({ key, admits }) => ({
            step: `networks of ${key}`,
            outcome: admits ? `admit ${address}` : `do not admit ${address}`,
          })),
        ]
      : []),
  ];
}
