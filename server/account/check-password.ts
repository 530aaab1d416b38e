import { longestPasswordInput } from '#contract/payloads.ts';
import { insertEventOnceAMinute } from '../audit/audit-event.ts';
import type { AccountRefusalReason } from '../audit/audit-events.ts';
import { keyedDigest } from '../crypto/keys.ts';
import { refuseWhenHashesWait, verifyPassword } from '../crypto/password-hash.ts';
import { tokenHash } from '../crypto/token.ts';
import type { Deps } from '../deps.ts';
import { limits } from '../limits.ts';
import { foldLoginName } from '../names/read-name.ts';
import { findSignInUser, insertRefusal } from '../people/sign-in-user.ts';
import { admitAddress, countGuess, deleteThrottles, findWait } from '../throttle/throttle.ts';
import { accountKey, addressKeys, deviceKey, networkOf, type ThrottleKey } from '../throttle/throttle-keys.ts';
import { type AccountVisit, personOf } from './account-visit.ts';

type CheckedPassword =
  | { kind: 'right'; hash: string }
  /** `reference`: of its event, if that is not the one of this request. */
  | { kind: 'wrong'; reference?: string }
  | { kind: 'throttled'; retryAfter: number };

/**
 * Checks the password of a signed-in person, counted as at the sign-in: a session gives no more guesses than the form.
 * A wrong one is an event of what it was for. Throws WorkQueueFull if too many passwords wait.
 */
export async function checkPassword(
  deps: Deps,
  visit: AccountVisit,
  password: string,
  event: 'fresh-proof-refused' | 'password-change-refused',
): Promise<CheckedPassword> {
  const { visitor, session } = visit;
  const now = deps.now();
  if ([...password].length > longestPasswordInput) {
    const steps = [{ step: 'password', outcome: 'too long to be one' }];
    const tooLong = { event, reason: 'wrong-password', ...personOf(visit), steps } as const;
    return {
      kind: 'wrong',
      reference: await insertEventOnceAMinute(deps.sql, tooLong, `too-long:${session.userId}`, now),
    };
  }
  const network = networkOf(visitor.address);
  refuseWhenHashesWait(network);
  const fold = foldLoginName(session.username);
  const origin = addressKeys(visitor.address);
  const deviceHash = visitor.deviceToken ? tokenHash(visitor.deviceToken) : null;
  const guess = keyedDigest(deps.keys.guess, `${fold}\n${password}`);
  const user = await findSignInUser(deps.sql, { fold, address: visitor.address, deviceHash, now });
  const ofDevice = user?.deviceKnown && deviceHash ? deviceKey(deviceHash, session.userId) : null;
  const until = ofDevice ? null : await admitAddress(deps.sql, origin, now);
  if (until) return await refused('throttled-address', [], until);
  const counted: ThrottleKey = ofDevice
    ? { key: ofDevice, limit: limits.throttle.device }
    : { key: accountKey(session.userId), limit: limits.throttle.account };
  if (!(await countGuess(deps.sql, counted, guess, now))) {
    const reason = ofDevice ? 'throttled-device' : 'throttled-account';
    return await refused(reason, [], await findWait(deps.sql, [counted], now));
  }
  const hash = user?.id === session.userId ? user.passwordHash : null;
  // As at the sign-in: the failures of a known browser count on it alone.
  if (hash === null || !(await verifyPassword(hash, password, network)))
    return await refused('wrong-password', ofDevice ? [] : origin, null);
  await deleteThrottles(deps.sql, [counted]);
  return { kind: 'right', hash };

  async function refused(
    reason: AccountRefusalReason,
    keys: readonly ThrottleKey[],
    until: Date | null,
  ): Promise<CheckedPassword> {
    await insertRefusal(deps.sql, { event, reason, ...personOf(visit) }, keys, deps.now());
    if (until === null) return { kind: 'wrong' };
    return { kind: 'throttled', retryAfter: until.getTime() - now.getTime() };
  }
}
