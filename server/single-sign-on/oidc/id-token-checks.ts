import { createHash } from 'node:crypto';
import { decodeProtectedHeader } from 'jose';
import type { IDToken } from 'openid-client';
import { limits } from '../../limits.ts';
import { providerWords } from '../provider-words.ts';
import { wrongInForm } from './id-token-form.ts';

/** What an ID token was sent with, and for whom. */
export type IdTokenContext = {
  idToken: string;
  accessToken: string;
  code: string;
  state: string;
  clientId: string;
  now: Date;
};

/**
 * What is wrong with an ID token, or null: the rules of OpenID Connect Core §2, §3.1.3.7 and §3.3.2.11 that the library
 * leaves to its caller. Signature, iss, aud, exp, nbf and nonce are already verified.
 */
export function wrongInIdToken(claims: IDToken, context: IdTokenContext): string | null {
  const { idToken, accessToken, code, state, clientId, now } = context;
  const form = wrongInForm(idToken);
  if (form !== null) return providerWords(form);
  const time = times.find((name) => claims[name] !== undefined && !isTime(claims[name]));
  if (time) return `ID token: ${time} is not a time`;
  const age = now.getTime() - claims.iat * 1000;
  if (age < -limits.providerClock) return 'ID token: iat is in the future';
  if (age > limits.idTokenAge + limits.providerClock) return 'ID token: iat is too long ago';
  if (Array.isArray(claims.aud) && claims.aud.length > mostAudiences) {
    return `ID token: it is for more than ${mostAudiences} audiences`;
  }
  if (claims.azp !== undefined && claims.azp !== clientId) return 'ID token: azp is not our client id';
  if (!isSubject(claims.sub)) return 'ID token: sub is not a string of 1 to 255 visible characters';
  const hashed = [
    ['at_hash', accessToken, 'the access token'],
    ['c_hash', code, 'the code'],
    ['s_hash', state, 'the state'],
  ] as const;
  const wrong = hashed.find(([name, text]) => claims[name] !== undefined && claims[name] !== hashOf(text, idToken));
  return wrong ? `ID token: ${wrong[0]} is not that of ${wrong[2]}` : null;
}

const times = ['exp', 'nbf', 'auth_time'];
/** The end of the year 9999: larger values are milliseconds, or infinite (1e999). */
const lastTime = 253_402_300_799;

function isTime(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= lastTime;
}

const mostAudiences = 50;
const longestSubject = 255;

/** A subject has no control characters, which databases refuse and records show differently. */
export function isSubject(sub: string): boolean {
  const isBlank = /^[\s\p{Default_Ignorable_Code_Point}]*$/u.test(sub);
  return !isBlank && sub.length <= longestSubject && sub.isWellFormed() && !/\p{Cc}/u.test(sub);
}

/** The left half of the hash for the signature's algorithm (OpenID Connect Core §3.1.3.6); Ed25519 uses SHA-512. */
function hashOf(text: string, idToken: string): string {
  const { alg = '' } = decodeProtectedHeader(idToken);
  const size = /^[RPE]S(256|384|512)$/.exec(alg)?.[1] ?? '512';
  const hash = createHash(`sha${size}`).update(text).digest();
  return hash.subarray(0, hash.length / 2).toString('base64url');
}
