import { createPublicKey } from 'node:crypto';
import { decodeCredentialPublicKey } from '@simplewebauthn/server/helpers';

/** The algorithms that are offered, in this order (RFC 9053, RFC 8812): ES256, EdDSA with Ed25519, RS256. */
export const offeredAlgorithms = [-7, -8, -257] as const;

/** Labels of COSE keys (RFC 9052 §7.1, RFC 9053 §7); for RSA -1 is the modulus and -2 the exponent (RFC 8230 §4). */
const label = { type: 1, algorithm: 3, curve: -1, x: -2, y: -3 } as const;

/**
 * Whether the key of a new passkey can verify what it will sign: one of the offered algorithms, with the curve that belongs
 * to it, a point on it, or an RSA key of 2048 to 4096 bits; and nothing else in it (Web Authentication Level 3, §6.5.1.1). The
 * library stores any key, and takes any curve for ES256.
 */
export function keyProblem(publicKey: Buffer): 'algorithm-not-offered' | 'key-unusable' | null {
  let key: Map<number, unknown>;
  try {
    key = decodeCredentialPublicKey(new Uint8Array(publicKey)) as unknown as Map<number, unknown>;
  } catch {
    return 'key-unusable';
  }
  if (!(key instanceof Map)) return 'key-unusable';
  const algorithm = key.get(label.algorithm);
  if (!offeredAlgorithms.some((offered) => offered === algorithm)) return 'algorithm-not-offered';
  try {
    const known = algorithm as (typeof offeredAlgorithms)[number];
    return key.size === partsOf[known] && isUsable(key, known) ? null : 'key-unusable';
  } catch {
    return 'key-unusable';
  }
}

/** How many parts a key of an algorithm has, which `isUsable` reads all. */
const partsOf = { [-7]: 5, [-8]: 4, [-257]: 4 } as const;

function isUsable(key: Map<number, unknown>, algorithm: (typeof offeredAlgorithms)[number]): boolean {
  const type = key.get(label.type);
  const text = (at: number, ...lengths: number[]) => {
    const bytes = key.get(at);
    if (!(bytes instanceof Uint8Array) || (lengths.length > 0 && !lengths.includes(bytes.length)))
      throw new Error('size');
    return Buffer.from(bytes).toString('base64url');
  };
  const isKey = (jwk: Record<string, string>) => createPublicKey({ key: jwk, format: 'jwk' });
  if (algorithm === -7) {
    if (type !== 2 || key.get(label.curve) !== 1) return false;
    return Boolean(isKey({ kty: 'EC', crv: 'P-256', x: text(label.x, 32), y: text(label.y, 32) }));
  }
  if (algorithm === -8) {
    if (type !== 1 || key.get(label.curve) !== 6) return false;
    return Boolean(isKey({ kty: 'OKP', crv: 'Ed25519', x: text(label.x, 32) }));
  }
  if (type !== 3) return false;
  const { modulusLength = 0, publicExponent } =
    isKey({ kty: 'RSA', n: text(label.curve), e: text(label.x, 3) }).asymmetricKeyDetails ?? {};
  return modulusLength >= 2048 && modulusLength <= 4096 && publicExponent === 65_537n;
}
