import { isOneTimeCode } from '#contract/one-time-code.ts';
import type { Deps } from '../deps/deps.ts';
import { unseal } from '../secrets/sealed.ts';
import { type CodeTry, noteClock } from '../storage/code-try.ts';
import type { HalfSession } from '../storage/half-session.ts';
import { findPendingTotp, findTotp } from '../storage/totp.ts';
import { pendingPlace, totpPlace } from './registration.ts';
import { codeOfOtherTime, period } from './totp.ts';

/**
 * By how many seconds a phone's clock is off, reported once per half session, when two different codes have shown the
 * same offset; otherwise null. One code is not enough: its time may be yet to come, so whoever guessed it could wait for
 * that (docs/decisions/0015). The code stays refused and counted.
 */
export async function clockHelp(
  deps: Deps,
  sessionHash: Buffer,
  { userId, factor, mustRegister }: HalfSession,
  code: string,
  { tries, at }: CodeTry,
): Promise<number | null> {
  if (factor !== 'app' || !isOneTimeCode(code)) return null;
  const [sealed, place] = mustRegister
    ? [await findPendingTotp(deps.sql, sessionHash), pendingPlace(sessionHash)]
    : [await findTotp(deps.sql, userId), totpPlace(userId)];
  const secret = sealed && unseal(deps.keys.seal, sealed, place);
  const found = secret && codeOfOtherTime(secret, code, at);
  // A code this near was refused because it was used before: the clock is right.
  if (!found || Math.abs(found.offset) <= period) return null;
  return (await noteClock(deps.sql, sessionHash, { tries, ...found, tolerance: period })) ? found.offset : null;
}
