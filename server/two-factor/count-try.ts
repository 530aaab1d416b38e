import type { AuditEvent } from '../audit/audit-events.ts';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { type CodeTry, countCodeTry } from '../storage/code-try.ts';
import { RollBack } from '../storage/database.ts';
import { insertEventOnceAMinute } from '../storage/event-once-a-minute.ts';
import { isUserActiveForShare } from '../storage/portal-user.ts';
import type { SessionStage } from '../storage/session.ts';
import { countAttempt } from '../storage/throttle.ts';
import { codeKey, type WayIn } from '../storage/throttle-keys.ts';
import { type Press, pressDigest } from './press.ts';

/** A counted attempt, or why none is allowed: `usedUp` also if the session is gone; `retryAfter` in milliseconds. */
export type CountedTry =
  | ({ kind: 'counted' } & CodeTry)
  | { kind: 'usedUp' }
  | { kind: 'signInExpired' }
  | { kind: 'throttled'; retryAfter: number };

/**
 * Counts an attempt in its session and for the account and its way in, or in neither. The second press of a form's
 * button is the first one's attempt.
 */
export async function countTry(
  deps: Deps,
  press: Press,
  { hash, userId, way, stage }: { hash: Buffer; userId: string; way: WayIn; stage: SessionStage },
): Promise<CountedTry> {
  const now = deps.now();
  if (stage === 'full' && !press.isForm) return await countForAccount(deps, way, now);
  const given = {
    most: limits.codeTries,
    pressHash: press.isForm ? pressDigest(deps.keys, press) : null,
    since: new Date(now.getTime() - limits.sameCodePress),
    now,
  };
  return await deps.sql.begin(async (sql): Promise<CountedTry | RollBack<CountedTry>> => {
    // The user is locked first, as by every change of a user, so that there is no deadlock: statements sent together run
    // one after the other.
    const [isActive, counted] = await Promise.all([isUserActiveForShare(sql, userId), countCodeTry(sql, hash, given)]);
    if (!isActive) return new RollBack({ kind: 'signInExpired' });
    if (!counted) return { kind: 'usedUp' };
    const until = counted.isSamePress ? null : await countAttempt(sql, [codeKey(way)], now);
    // The account had too many attempts, so this one is not made.
    if (until) return new RollBack(throttled(until, now));
    return { kind: 'counted', ...counted };
  });
}

/** A script's call in a full session, which has no number of attempts of its own. */
async function countForAccount(deps: Deps, way: WayIn, now: Date): Promise<CountedTry> {
  const until = await countAttempt(deps.sql, [codeKey(way)], now);
  if (until) return throttled(until, now);
  return { kind: 'counted', tries: 0, at: now, isSamePress: false };
}

function throttled(until: Date, now: Date): CountedTry {
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
