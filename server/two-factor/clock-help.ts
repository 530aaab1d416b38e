import { isOneTimeCode } from '#contract/one-time-code.ts';
import type { Deps } from '../deps/deps.ts';
import { unseal } from '../secrets/sealed.ts';
import { tokenHash } from '../secrets/token.ts';
import { type CodeTry, noteClock } from '../storage/code-try.ts';
import type { HalfSession } from '../storage/half-session.ts';
import { findTotp } from '../storage/totp.ts';
import type { RegisteringBrowser } from './app-key.ts';
import { findShownKey, totpPlace } from './registration.ts';
import { codeOfOtherTime, period } from './totp.ts';

/**
 * By how many seconds a phone's clock is off, reported once per half session, when two different codes have shown the
 * same offset; otherwise null. One code is not enough: its time may be yet to come, so whoever guessed it could wait for
 * that (docs/decisions/0015). The code stays refused and counted.
 */
export async function clockHelp(
  deps: Deps,
  request: RegisteringBrowser & { sessionToken: string; code: string },
  { id, userId, factor, mustRegister }: HalfSession,
  { tries, at }: CodeTry,
): Promise<number | null> {
  const { code } = request;
  if (factor !== 'app' || !isOneTimeCode(code)) return null;
  const sessionHash = tokenHash(request.sessionToken);
  const secret = mustRegister
    ? await findShownKey(deps, deps.sql, { id, sessionHash }, request)
    : await findSecret(deps, userId);
  const found = secret && codeOfOtherTime(secret, code, at);
  // A code this near was refused because it was used before: the clock is right.
  if (!found || Math.abs(found.offset) <= period) return null;
  return (await noteClock(deps.sql, sessionHash, { tries, ...found, tolerance: period })) ? found.offset : null;
}

async function findSecret({ sql, keys }: Deps, userId: string): Promise<string | null> {
  const sealed = await findTotp(sql, userId);
  return sealed && unseal(keys.seal, sealed, totpPlace(userId));
}
