import type { RefusalReason } from '../audit/audit-events.ts';
import type { Deps } from '../deps.ts';
import { insertRefusal } from '../people/sign-in-user.ts';
import { tryPassword } from '../sign-in/try-password.ts';
import { deleteThrottles, findWait } from '../throttle/throttle.ts';
import { addressKeys, type ThrottleKey } from '../throttle/throttle-keys.ts';
import { type AccountVisit, personOf } from './account-visit.ts';

type CheckedPassword = { kind: 'right'; hash: string } | { kind: 'wrong' } | { kind: 'throttled'; retryAfter: number };

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
  const { address, deviceToken } = visitor;
  const tried = await tryPassword(deps, { username: session.username, password, address, deviceToken });
  if (tried.kind === 'addressWaits') return await refused('throttled-address', [], tried.until);
  const { user, counted, isKnownDevice, mayTry, isRight } = tried;
  if (!mayTry) {
    const reason = isKnownDevice ? 'throttled-device' : 'throttled-account';
    return await refused(reason, [], await findWait(deps.sql, [counted], deps.now()));
  }
  // As at the sign-in: the failures of a known browser count on it alone.
  if (!isRight || user?.id !== session.userId || user.passwordHash === null)
    return await refused('wrong-password', isKnownDevice ? [] : addressKeys(address), null);
  await deleteThrottles(deps.sql, [counted]);
  return { kind: 'right', hash: user.passwordHash };

  async function refused(
    reason: RefusalReason,
    keys: readonly ThrottleKey[],
    until: Date | null,
  ): Promise<CheckedPassword> {
    const now = deps.now();
    await insertRefusal(deps.sql, { event, reason, ...personOf(visit) }, keys, now);
    return until ? { kind: 'throttled', retryAfter: until.getTime() - now.getTime() } : { kind: 'wrong' };
  }
}
