import type { AuditEvent } from '../audit/audit-events.ts';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { countCodeTry } from '../storage/code-try.ts';
import { RollBack } from '../storage/database.ts';
import { insertEventOnceAMinute } from '../storage/event-once-a-minute.ts';
import { countAttempt } from '../storage/throttle.ts';
import { codeKey, type WayIn } from '../storage/throttle-keys.ts';

/** A counted attempt, or why none is allowed: `usedUp` also if the session is gone; `retryAfter` in milliseconds. */
type CountedTry = { kind: 'counted'; tries: number } | { kind: 'usedUp' } | { kind: 'throttled'; retryAfter: number };

/**
 * Counts an attempt at a code in its half session and for the account and its way in, or in neither. It is committed before the
 * code is looked at, so that attempts at the same time gain nothing.
 */
export async function countTry(deps: Deps, sessionId: string, way: WayIn): Promise<CountedTry> {
  const now = deps.now();
  return await deps.sql.begin(async (sql): Promise<CountedTry | RollBack<CountedTry>> => {
    const tries = await countCodeTry(sql, sessionId, limits.codeTries);
    if (tries === null) return { kind: 'usedUp' };
    const until = await countAttempt(sql, [codeKey(way)], now);
    // The account had too many attempts, so this one is not made.
    return until ? new RollBack(throttled(until, now)) : { kind: 'counted', tries };
  });
}

/** Counts an attempt in a full session, which has no number of attempts of its own. */
export async function countTryOfAccount(deps: Deps, way: WayIn): Promise<Exclude<CountedTry, { kind: 'usedUp' }>> {
  const now = deps.now();
  const until = await countAttempt(deps.sql, [codeKey(way)], now);
  return until ? throttled(until, now) : { kind: 'counted', tries: 0 };
}

function throttled(until: Date, now: Date): Extract<CountedTry, { kind: 'throttled' }> {
  return { kind: 'throttled', retryAfter: until.getTime() - now.getTime() };
}

/** Records a code that was not checked because its way in has to wait, at most once a minute. */
export async function recordThrottledTry(
  deps: Deps,
  who: Omit<AuditEvent, 'event'> & { requestId: string },
  way: WayIn,
  { retryAfter }: { retryAfter: number },
): Promise<void> {
  const now = deps.now();
  const until = new Date(now.getTime() + retryAfter).toISOString();
  const steps = [{ step: 'throttle', outcome: `wrong codes of this account by this way in: wait until ${until}` }];
  const event = { ...who, event: 'code-throttled', steps } as const;
  await insertEventOnceAMinute(deps.sql, event, `throttled:${codeKey(way).key}`, now);
}
