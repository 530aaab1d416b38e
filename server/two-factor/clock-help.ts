import { isOneTimeCode } from '#contract/one-time-code.ts';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { unseal } from '../secrets/sealed.ts';
import { type CodeTry, takeClockHelp } from '../storage/code-try.ts';
import type { HalfSession } from '../storage/half-session.ts';
import { findPendingTotp, findTotp } from '../storage/totp.ts';
import { pendingPlace, totpPlace } from './registration.ts';
import { clockOffset } from './totp.ts';

/**
 * By how many seconds a phone's clock seems to be off, reported once per half session and only after some misses;
 * otherwise null. The code stays refused and counted: guessing reveals that one of forty codes was near, at the price
 * of an attempt, and nothing that lets anyone in (docs/decisions/0015).
 */
export async function clockHelp(
  deps: Deps,
  sessionHash: Buffer,
  { userId, factor, mustRegister }: HalfSession,
  code: string,
  { tries, at }: CodeTry,
): Promise<number | null> {
  if (factor !== 'app' || tries < limits.clockHelpAfter || !isOneTimeCode(code)) return null;
  const [sealed, place] = mustRegister
    ? [await findPendingTotp(deps.sql, sessionHash), pendingPlace(sessionHash)]
    : [await findTotp(deps.sql, userId), totpPlace(userId)];
  const secret = sealed && unseal(deps.keys.seal, sealed, place);
  const offset = secret && clockOffset(secret, code, at);
  // A code this near was refused because it was used before: the clock is right.
  if (!offset || Math.abs(offset) <= 30) return null;
  return (await takeClockHelp(deps.sql, sessionHash, tries)) ? offset : null;
}
