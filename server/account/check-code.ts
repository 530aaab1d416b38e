import { isOneTimeCode } from '#contract/one-time-code.ts';
import type { Deps } from '../deps/deps.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { findActiveUserForChange } from '../storage/portal-user.ts';
import { insertEventOnceAMinute } from '../storage/sign-in.ts';
import { countAttempt, deleteThrottle } from '../storage/throttle.ts';
import { codeKey } from '../storage/throttle-keys.ts';
import { takeProof } from '../two-factor/take-proof.ts';
import type { AccountVisit } from './account-visit.ts';
import { personOf } from './person-of-event.ts';

export type CheckedCode = { kind: 'right' } | { kind: 'wrong' } | { kind: 'throttled'; retryAfter: number };

/**
 * Consumes a code of a signed-in person's app, or a recovery code, counted with the codes of their sign-ins: of two posts with
 * one code only one is right. `retryAfter` is in milliseconds.
 */
export async function checkCode(deps: Deps, visit: AccountVisit, text: string): Promise<CheckedCode> {
  const { session, sessionHash } = visit;
  const code = isOneTimeCode(text.replaceAll(' ', '')) ? text.replaceAll(' ', '') : text;
  const throttled = await countCode(deps, visit);
  if (throttled) return throttled;
  const { userId } = session;
  const prover = { userId, factor: 'app', mustRegister: false, sessionHash, nextSessionHash: sessionHash } as const;
  const isRight = await deps.sql.begin(async (sql) => {
    if (!(await findActiveUserForChange(sql, userId))) return false;
    if (!(await takeProof(deps, sql, prover, code))) return false;
    await deleteThrottle(sql, codeKey(session));
    return true;
  });
  if (isRight) return { kind: 'right' };
  await recordWrongCode(deps, visit);
  return { kind: 'wrong' };
}

/** Counts an attempt at a code before it is checked; null if it may be. */
export async function countCode(
  deps: Deps,
  visit: AccountVisit,
): Promise<{ kind: 'throttled'; retryAfter: number } | null> {
  const now = deps.now();
  const key = codeKey(visit.session);
  const until = await countAttempt(deps.sql, [key], now);
  if (!until) return null;
  deps.metrics.throttled.inc({ kind: 'code' });
  const event = { event: 'fresh-proof-refused', reason: 'throttled-code', ...personOf(visit) } as const;
  await insertEventOnceAMinute(deps.sql, event, `throttled:${key.key}`, now);
  return { kind: 'throttled', retryAfter: until.getTime() - now.getTime() };
}

export async function recordWrongCode(deps: Deps, visit: AccountVisit): Promise<void> {
  const event = { event: 'fresh-proof-refused', reason: 'wrong-code', ...personOf(visit) } as const;
  await insertAuditEvent(deps.sql, event, deps.now());
}
