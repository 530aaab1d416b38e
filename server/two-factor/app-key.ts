import { createHmac } from 'node:crypto';
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
 * The token of a browser's key; null if it has none yet. Within seconds after the session's secret was made, the same for tabs that
 * load at once, and after an answer that was never read: like two presses of a button (docs/decisions/0028).
 */
export function registrationTokenOf(
  { keys, now }: Pick<Deps, 'keys' | 'now'>,
  browser: RegisteringBrowser,
  madeAt: Date,
): string | null {
  if (browser.registrationToken !== null) return browser.registrationToken;
  if (now().getTime() - madeAt.getTime() > limits.sameCodePress) return null;
  const place = JSON.stringify(['registration', browser.address]);
  return codeDigest(keys.code, browserHash(browser).toString('hex'), place).toString('base64url');
}
