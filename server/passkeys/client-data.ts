import type { PasskeyRefusalReason } from '../audit/passkey-reasons.ts';
import { isToken } from '../secrets/token.ts';
import { isRecord } from './read-answer.ts';

/** What the browser says of a ceremony (Web Authentication Level 3, §5.8.1). */
export type ClientData = {
  type: unknown;
  challenge: string;
  origin: unknown;
  crossOrigin: unknown;
  topOrigin: unknown;
};

/** Reads the client data; null if they are not JSON, or the challenge is not in the form of ours. */
export function readClientData(bytes: Buffer): ClientData | null {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    if (!isRecord(value) || typeof value.challenge !== 'string' || !isToken(value.challenge)) return null;
    const { type, challenge, origin, crossOrigin, topOrigin } = value;
    return { type, challenge, origin, crossOrigin, topOrigin };
  } catch {
    return null;
  }
}

/** Why the client data are refused, or null. The library ignores `crossOrigin` (docs/decisions/0052). */
export function refusalOfClientData(
  { type, origin, crossOrigin, topOrigin }: ClientData,
  expected: { type: 'webauthn.create' | 'webauthn.get'; origin: string },
): PasskeyRefusalReason | null {
  if (type !== expected.type) return 'wrong-type';
  if (origin !== expected.origin) return 'wrong-origin';
  if ((crossOrigin !== undefined && crossOrigin !== false) || topOrigin !== undefined) return 'cross-origin';
  return null;
}
