import { generateSecret, generateURI, ScureBase32Plugin, verifySync } from 'otplib';
import { minute } from '../limits.ts';

/** Up to this offset an operator is told of a phone's clock. */
const clocksWithin = 10 * minute;

/** RFC 4226 §4 requires 160 bits. */
export const secretBytes = 20;
/** How long a code is shown, in seconds (RFC 6238 §5.2). */
export const period = 30;

/** A new secret for an authenticator app: 160 random bits in base32, 32 letters. */
export function newTotpSecret(): string {
  return generateSecret({ length: secretBytes });
}

/**
 * The time step of a code (RFC 6238: SHA-1 unless the secret says otherwise, six digits, 30 s): that of `now` or one
 * either side; otherwise null.
 */
export function totpStep(secret: string, code: string, now: Date): number | null {
  return stepWithin(secret, code, now, period);
}

/**
 * By how many seconds the clock of the device that showed a code seems to be ahead (behind: negative), within ten minutes; null if
 * it showed no such code. One that would be accepted was refused because it was used before: that clock is right.
 */
export function offsetOf(secret: string, code: string, now: Date): number | null {
  const step = stepWithin(secret, code, now, clocksWithin / 1000);
  if (step === null) return null;
  const offset = (step - Math.floor(now.getTime() / 1000 / period)) * period;
  return Math.abs(offset) > period ? offset : null;
}

function stepWithin(stored: string, code: string, now: Date, tolerance: number): number | null {
  const epoch = Math.floor(now.getTime() / 1000);
  const { secret, algorithm } = readStoredTotpSecret(stored);
  const result = verifySync({ secret, algorithm, token: code, epoch, period, epochTolerance: tolerance });
  return result.valid && 'timeStep' in result ? result.timeStep : null;
}

/** The address that an authenticator app reads from a QR code; separator colons in issuer and account are replaced. */
export function totpUri(secret: string, issuer: string, account: string): string {
  const plain = (text: string) => text.replaceAll(':', ' ');
  return generateURI({ secret, issuer: plain(issuer), label: plain(account) });
}

export type TotpAlgorithm = 'sha1' | 'sha256' | 'sha512';

/**
 * The text that is sealed for an authenticator app: the secret in base32, after its algorithm if that is not SHA-1, as in
 * `sha256:GEZD…`. Only imported apps have another one.
 */
export function storedTotpSecret(secret: Uint8Array, algorithm: TotpAlgorithm): string {
  const text = new ScureBase32Plugin().encode(secret, { padding: false });
  return algorithm === 'sha1' ? text : `${algorithm}:${text}`;
}

/** The parts of a sealed text. */
export function readStoredTotpSecret(text: string): { secret: string; algorithm: TotpAlgorithm } {
  const [, algorithm = 'sha1', secret = text] = /^(sha256|sha512):(.*)$/.exec(text) ?? [];
  return { secret, algorithm: algorithm as TotpAlgorithm };
}
