import { storedTotpSecret, type TotpAlgorithm } from '../factors/totp.ts';
import type { Reading } from '../names/read-name.ts';
import { isGiven, numberOf, refusedValue, textOf } from './read-value.ts';
import type { TotpOfSource } from './source-user.ts';

/** RFC 4226 §4 requires 128 bits; the verification refuses less. */
const shortestSecret = 16;
/** Longer than any app's secret. */
const longestSecret = 64;

/** The secret of an authenticator app as it is sealed; refused if its codes could not be verified here. */
export function readTotp(source: TotpOfSource | null): Reading<string | null> {
  if (!source || !isGiven(source.secret)) return { kind: 'ok', value: null };
  // Empty cells of a CSV file count as absent.
  const [digits, period] = [source.digits || 6, source.period || 30];
  const algorithm = algorithmOf(source.algorithm || 'SHA1');
  if (!algorithm) return refusedValue('totp', 'the algorithm must be SHA1, SHA256 or SHA512');
  if (numberOf(digits) !== 6)
    return refusedValue('totp', `codes have six digits here, not ${textOf(digits).slice(0, 10)}`);
  if (numberOf(period) !== 30)
    return refusedValue('totp', `codes change every 30 seconds here, not ${textOf(period).slice(0, 10)}`);
  const secret = bytesOf(source.secret);
  if (!secret) return refusedValue('totp', 'the secret is not base32');
  if (secret.length < shortestSecret || secret.length > longestSecret)
    return refusedValue(
      'totp',
      `the secret must have ${shortestSecret} to ${longestSecret} bytes, not ${secret.length}`,
    );
  return { kind: 'ok', value: storedTotpSecret(secret, algorithm) };
}

function algorithmOf(name: unknown): TotpAlgorithm | null {
  const [, bits] = /^(?:hmac)?-?sha-?(1|256|512)$/i.exec(textOf(name)) ?? [];
  return bits ? (`sha${bits}` as TotpAlgorithm) : null;
}

function bytesOf(secret: unknown): Uint8Array | null {
  if (secret instanceof Uint8Array) return secret;
  if (typeof secret !== 'string' || secret.length > 200) return null;
  const letters = secret.replace(/[\s=-]/g, '').toUpperCase();
  if (!/^[A-Z2-7]+$/.test(letters)) return null;
  const bits = [...letters].map((letter) => base32.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
}

const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
