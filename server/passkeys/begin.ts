import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { newToken, tokenHash } from '../secrets/token.ts';
import { insertPasskeyChallenge, type PasskeyChallenge } from '../storage/passkey-challenge.ts';

/**
 * Begins a ceremony: stores the hash of a new challenge of 256 random bits, bound to the browser's token, and returns the
 * challenge.
 */
export async function beginCeremony(
  { sql, now }: Pick<Deps, 'sql' | 'now'>,
  browserToken: string,
  ceremony: PasskeyChallenge,
): Promise<string> {
  const challenge = newToken();
  const endsAt = new Date(now().getTime() + limits.passkeyChallenge);
  const hashes = { challengeHash: tokenHash(challenge), browserHash: tokenHash(browserToken) };
  await insertPasskeyChallenge(sql, { ...ceremony, ...hashes, endsAt });
  return challenge;
}

/** What every browser is told to sign in with: the same for everybody, but for the challenge. */
export function optionsOfSignIn(challenge: string, rpId: string) {
  return { challenge, rpId, timeout: limits.passkeyChallenge, userVerification: 'required' as const };
}
