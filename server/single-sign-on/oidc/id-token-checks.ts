import { createHash } from 'node:crypto';
import { decodeProtectedHeader } from 'jose';
import type { IDToken } from 'openid-client';
import { limits } from '../../limits.ts';

/**
 * What is wrong with an ID token, or null: the rules of OpenID Connect Core §2 and §3.1.3.7 that the library leaves to
 * its caller. Its signature, iss, aud, exp, nbf and nonce have been checked.
 */
export function wrongInIdToken(
  claims: IDToken,
  { idToken, accessToken, clientId, now }: { idToken: string; accessToken: string; clientId: string; now: Date },
): string | null {
  const age = now.getTime() - claims.iat * 1000;
  if (age < -limits.providerClock) return 'ID token: iat is in the future';
  if (age > limits.idTokenAge + limits.providerClock) return 'ID token: iat is too long ago';
  if (claims.azp !== undefined && claims.azp !== clientId) return 'ID token: azp is not our client id';
  if (!isSubject(claims.sub)) return 'ID token: sub is not a string of 1 to 255 characters';
  if (claims.at_hash !== undefined && claims.at_hash !== hashOf(accessToken, idToken)) {
    return 'ID token: at_hash is not that of the access token';
  }
  return null;
}

const longestSubject = 255;

/** Control characters, which a database refuses or a record shows as something else, are in no subject. */
export function isSubject(sub: string): boolean {
  return sub.length >= 1 && sub.length <= longestSubject && sub.isWellFormed() && !/\p{Cc}/u.test(sub);
}

/** The left half of the hash that goes with the signature's algorithm (OpenID Connect Core §3.1.3.6). */
function hashOf(accessToken: string, idToken: string): string {
  const { alg = '' } = decodeProtectedHeader(idToken);
  const size = /\d{3}$/.exec(alg)?.[0] ?? '512';
  const hash = createHash(`sha${size}`).update(accessToken).digest();
  return hash.subarray(0, hash.length / 2).toString('base64url');
}
