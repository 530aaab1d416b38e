import type { Deps } from '../deps/deps.ts';
import { insertEventOnceAMinute } from '../storage/sign-in.ts';
import { countAttempt } from '../storage/throttle.ts';
import { changeKey } from '../storage/throttle-keys.ts';
import type { AccountVisit } from './account-visit.ts';
import { personOf } from './person-of-event.ts';

/**
 * Counts a change of a person that costs more than its row, such as emails or hashes, before it is made; null if it may be.
 * `retryAfter` is in milliseconds.
 */
export async function countChange(
  deps: Deps,
  visit: AccountVisit,
  what: 'password' | 'recovery-codes' | 'passkey' | 'passkey-name',
): Promise<{ kind: 'throttled'; retryAfter: number } | null> {
  const now = deps.now();
  const key = changeKey(what, visit.session.userId);
  const until = await countAttempt(deps.sql, [key], now);
  if (!until) return null;
  const event = { event: 'account-change-refused', reason: 'throttled-changes', ...personOf(visit) } as const;
  await insertEventOnceAMinute(deps.sql, event, `throttled:${key.key}`, now);
  return { kind: 'throttled', retryAfter: until.getTime() - now.getTime() };
}
