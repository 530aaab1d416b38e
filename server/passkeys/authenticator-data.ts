import { hash } from 'node:crypto';
import type { PasskeyRefusalReason } from '../audit/passkey-reasons.ts';
import { limits } from '../limits.ts';
import { endOfCbor } from './cbor-end.ts';

/** What the authenticator says, and signs (Web Authentication Level 3, §6.1). */
export type AuthenticatorData = {
  rpIdHash: Buffer;
  isPresent: boolean;
  isVerified: boolean;
  backupEligible: boolean;
  backedUp: boolean;
  counter: number;
  /** A new passkey, in an enrolment only. */
  attested: Attested | null;
};

/** §6.5.1. The key is in COSE form. */
export type Attested = { aaguid: Buffer; credentialId: Buffer; publicKey: Buffer };

const headLength = 37;
const attestedHeadLength = 18;

/** Reads authenticator data; null if they are cut, or have bytes that their flags do not announce. */
export function readAuthenticatorData(bytes: Buffer): AuthenticatorData | null {
  if (bytes.length < headLength) return null;
  const flags = bytes.readUInt8(32);
  const has = (bit: number) => (flags & (1 << bit)) !== 0;
  const attested = has(6) ? readAttested(bytes) : null;
  if (has(6) && !attested) return null;
  const start = attested?.end ?? headLength;
  const end = has(7) ? endOfCbor(bytes, start) : start;
  if (end !== bytes.length) return null;
  return {
    rpIdHash: bytes.subarray(0, 32),
    isPresent: has(0),
    isVerified: has(2),
    backupEligible: has(3),
    backedUp: has(4),
    counter: bytes.readUInt32BE(33),
    attested: attested?.attested ?? null,
  };
}

function readAttested(bytes: Buffer): { attested: Attested; end: number } | null {
  const idAt = headLength + attestedHeadLength;
  if (bytes.length < idAt) return null;
  const keyAt = idAt + bytes.readUInt16BE(idAt - 2);
  const { credentialId, publicKey } = limits.passkeyAnswer;
  const { shortest, longest } = credentialId;
  if (keyAt - idAt < shortest || keyAt - idAt > longest || keyAt > bytes.length) return null;
  const end = endOfCbor(bytes, keyAt);
  if (end === null || end - keyAt > publicKey) return null;
  const aaguid = bytes.subarray(headLength, headLength + 16);
  return {
    attested: { aaguid, credentialId: bytes.subarray(idAt, keyAt), publicKey: bytes.subarray(keyAt, end) },
    end,
  };
}

/**
 * Why authenticator data are refused in either ceremony, or null.
 */
export function refusalOfAuthenticatorData(data: AuthenticatorData, rpId: string): PasskeyRefusalReason | null {
  if (!data.rpIdHash.equals(hash('sha256', rpId, 'buffer'))) return 'wrong-relying-party';
  if (!data.isPresent) return 'not-present';
  if (!data.isVerified) return 'not-verified';
  if (data.backedUp && !data.backupEligible) return 'backup-flags';
  return null;
}
