import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { codeDigest } from '../secrets/code-digest.ts';
import { browserHash } from '../visitor/browser-hash.ts';
import type { Visitor } from '../visitor/visitor.ts';
import { secretBytes } from './totp.ts';
import { storedTotpSecret } from './totp-secret.ts';

/** The browser in which an app is set up; `registrationToken` once it has been shown a key. */
export type RegisteringBrowser = Pick<
  Visitor,
  'sessionToken' | 'deviceToken' | 'userAgent' | 'address' | 'registrationToken'
>;

/**
 * The key for an app, in base32: that of a session's secret and of one browser, so that a copy of the session's cookie is shown
 * another one (docs/decisions/0051).
 */
export function appKey(secret: string, registrationToken: string): string {
  const digest = createHmac('sha256', secret).update(registrationToken).digest();
  return storedTotpSecret(digest.subarray(0, secretBytes), 'sha1');
}

/**
 * The token of a browser's key for a session; null if it has none yet. One that was made for another session, such as that of the
 * person before, is none. Within seconds after the session's secret was made, the same for tabs that load at once, and after an
 * answer that was never read: like two presses of a button (docs/decisions/0028).
 */
export function registrationTokenOf(
  { keys, now }: Pick<Deps, 'keys' | 'now'>,
  browser: RegisteringBrowser,
  { sessionHash, madeAt }: { sessionHash: Buffer; madeAt: Date },
): string | null {
  const { registrationToken, address } = browser;
  if (isTokenOfSession(keys, registrationToken, sessionHash)) return registrationToken;
  if (now().getTime() - madeAt.getTime() > limits.sameCodePress) return null;
  const place = JSON.stringify(['registration', address]);
  const ofPlace = codeDigest(keys.code, browserHash(browser).toString('hex'), place).subarray(0, nonceBytes);
  return newRegistrationToken(keys.code, sessionHash, ofPlace);
}

export const nonceBytes = 16;

/** Whether a token was made for that session, with any key: the server's secret may have changed since. */
export function isTokenOfSession(
  { code }: Deps['keys'],
  registrationToken: string | null,
  sessionHash: Buffer,
): registrationToken is string {
  if (registrationToken === null) return false;
  const nonce = Buffer.from(registrationToken, 'base64url').subarray(0, nonceBytes);
  return code.some((key) => isSame(registrationToken, newRegistrationToken([key], sessionHash, nonce)));
}

/** A token for the key of a session's app: 128 bits of its own, and 128 that say that it is for this session. */
export function newRegistrationToken(
  keys: readonly Buffer[],
  sessionHash: Buffer,
  nonce: Buffer = randomBytes(nonceBytes),
): string {
  const tag = codeDigest(keys, nonce.toString('hex'), Buffer.concat([Buffer.from('registration\n'), sessionHash]));
  return Buffer.concat([nonce, tag.subarray(0, nonceBytes)]).toString('base64url');
}

/** Compares two tokens in constant time. */
export function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
