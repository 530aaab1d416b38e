import { hash } from 'node:crypto';
import type { PasskeyRefusalReason } from '../audit/passkey-reasons.ts';
import { limits } from '../limits.ts';

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

/**
 * Where the CBOR item that begins at `start` ends, which may be after the last byte; null if it is cut, or not such as
 * authenticators write (CTAP 2.1, §8): no tags, floats or items of indefinite length, at most four levels, few items. Walks heads only, so a forged length
 * costs nothing; the library, which decodes, sees nothing else.
 */
export function endOfCbor(bytes: Uint8Array, start = 0): number | null {
  const { items, depth } = limits.passkeyAnswer;
  let count = 0;

  function skip(at: number, level: number): number | null {
    count += 1;
    const head = headAt(bytes, at);
    if (!head || count > items || level > depth) return null;
    const { major, value, end } = head;
    if (major <= 1) return end;
    if (major === 7) return value <= 23 && end === at + 1 ? end : null;
    if (major === 6) return null;
    if (major <= 3) return end + value;
    let next: number | null = end;
    const parts = major === 4 ? value : 2 * value;
    for (let part = 0; part < parts && next !== null; part += 1) next = skip(next, level + 1);
    return next;
  }

  return skip(start, 1);
}

/** Kind and length, or value, of the item at a place; null if it is cut, or of indefinite length (RFC 8949 §3). */
function headAt(bytes: Uint8Array, at: number): { major: number; value: number; end: number } | null {
  const first = bytes[at];
  if (first === undefined) return null;
  const [major, short] = [first >> 5, first & 31];
  if (short < 24) return { major, value: short, end: at + 1 };
  const size = [1, 2, 4][short - 24];
  if (size === undefined || at + 1 + size > bytes.length) return null;
  let value = 0;
  for (let place = at + 1; place <= at + size; place += 1) value = value * 256 + (bytes[place] as number);
  return { major, value, end: at + 1 + size };
}
