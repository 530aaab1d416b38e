import type { FastifyReply } from 'fastify';
import type { Deps } from '../deps/deps.ts';
import { codeDigest } from '../secrets/code-digest.ts';
import { tokenHash } from '../secrets/token.ts';
import { isSame, newRegistrationToken, nonceBytes } from './app-key.ts';
import { keepRegistrationToken } from './keep-registration-token.ts';

/**
 * Gives a browser, beside a session's next token, the registration token that says that this answer was its own: what the press
 * has proven, and what it shows, is for that browser, and for no copy of the session's cookie (docs/decisions/0051). The second
 * press of a button gets the same one.
 */
export function keepTokenOfPress(reply: FastifyReply, { config, keys }: Deps, sessionToken: string): void {
  keepRegistrationToken(reply, config, tokenOfPress(keys.code, tokenHash(sessionToken)));
}

/** Whether a token is the one that came with that session's token, made with any key: the server's secret may have changed. */
export function isTokenOfPress(
  { code }: Deps['keys'],
  registrationToken: string | null,
  sessionHash: Buffer,
): registrationToken is string {
  return registrationToken !== null && code.some((key) => isSame(registrationToken, tokenOfPress([key], sessionHash)));
}

/** One whose first half is derived, too: a page that sets up an app gives out random ones to whoever has the session's cookie. */
export function tokenOfPress(keys: readonly Buffer[], sessionHash: Buffer): string {
  const nonce = codeDigest(keys, sessionHash.toString('hex'), 'token of press').subarray(0, nonceBytes);
  return newRegistrationToken(keys, sessionHash, nonce);
}
