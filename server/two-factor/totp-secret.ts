import { ScureBase32Plugin } from 'otplib';

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
