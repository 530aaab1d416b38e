import { isOneTimeCode } from '#contract/one-time-code.ts';
import type { Deps } from '../deps/deps.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Connection } from '../storage/database.ts';
import { insertEventOnceAMinute } from '../storage/sign-in.ts';
import { countAttempt, deleteThrottle } from '../storage/throttle.ts';
import { codeKey } from '../storage/throttle-keys.ts';
import { type Proof, takeProof } from '../two-factor/take-proof.ts';
import type { AccountVisit } from './account-visit.ts';
import { personForChange } from './person-for-change.ts';
import { personOf } from './person-of-event.ts';

export type CheckedCode =
  | { kind: 'right' }
  | { kind: 'wrong' }
  /** The session has ended meanwhile, or goes by another token; the code stays unused. */
  | { kind: 'signedOut' }
  | { kind: 'throttled'; retryAfter: number };

/**
 * Consumes a code of a signed-in person's app, or a recovery code, counted with the codes of their sign-ins: of two posts with
 * one code only one is right. `opens` is what a right one opens, in the same transaction. `retryAfter` is in milliseconds.
 */
export async function checkCode(
  deps: Deps,
  visit: AccountVisit,
  text: string,
  opens: (sql: Connection, proof: Proof) => Promise<void>,
): Promise<CheckedCode> {
  const { session, sessionHash } = visit;
  const code = isOneTimeCode(text.replaceAll(' ', '')) ? text.replaceAll(' ', '') : text;
  const throttled = await countCode(deps, visit);
  if (throttled) return throttled;
  const { userId } = session;
  const ids = { sessionId: session.id, nextSessionId: session.id, sessionHash };
  const prover = { userId, factor: 'app', mustRegister: false, ...ids } as const;
  const kind = await deps.sql.begin(async (sql) => {
    if (!(await personForChange(sql, visit, deps.now()))) return 'signedOut';
    const proof = await takeProof(deps, sql, prover, code);
    if (!proof) return 'wrong';
    await deleteThrottle(sql, codeKey(session));
    await opens(sql, proof);
    return 'right';
  });
  if (kind === 'wrong') await recordWrongCode(deps, visit);
  return { kind };
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
  const event = { event: 'fresh-proof-refused', reason: 'throttled-code', ...personOf(visit) } as const;
  await insertEventOnceAMinute(deps.sql, event, `throttled:${key.key}`, now);
  return { kind: 'throttled', retryAfter: until.getTime() - now.getTime() };
}

export async function recordWrongCode(deps: Deps, visit: AccountVisit): Promise<void> {
  const event = { event: 'fresh-proof-refused', reason: 'wrong-code', ...personOf(visit) } as const;
  await insertAuditEvent(deps.sql, event, deps.now());
}
