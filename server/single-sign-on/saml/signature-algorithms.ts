import { constants, type KeyObject, verify } from 'node:crypto';

type Padding = { padding: number; saltLength: number } | { dsaEncoding: 'ieee-p1363' } | Record<never, never>;
type Algorithm = { key: 'rsa' | 'ec'; hash: string; padding: Padding };

const more = 'http://www.w3.org/2001/04/xmldsig-more#';
const newer = 'http://www.w3.org/2007/05/xmldsig-more#';
/** RFC 9231 §2.3.9: the salt is as long as the digest. */
const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
/** XML Signature 1.1 §6.4.3: r and s concatenated, not in ASN.1. */
const ecdsa = { dsaEncoding: 'ieee-p1363' } as const;

/** The accepted signatures: RSA in both ways and ECDSA, with SHA-2. No SHA-1, no DSA and no HMAC. */
const table: Record<string, Algorithm> = Object.fromEntries(
  ['sha256', 'sha384', 'sha512'].flatMap((hash): [string, Algorithm][] => [
    [`${more}rsa-${hash}`, { key: 'rsa', hash, padding: {} }],
    [`${newer}${hash}-rsa-MGF1`, { key: 'rsa', hash, padding: pss }],
    [`${more}ecdsa-${hash}`, { key: 'ec', hash, padding: ecdsa }],
  ]),
);

export const signatureAlgorithmNames: readonly string[] = Object.keys(table);

/** Returns a verifier for an algorithm, which accepts only keys of its kind; unknown algorithms always fail. */
export function signatureCheck(name: string | null): (text: string, key: KeyObject, signature: Buffer) => boolean {
  const algorithm = name !== null && Object.hasOwn(table, name) ? table[name] : undefined;
  return (text, key, signature) => {
    if (!algorithm || key.asymmetricKeyType !== algorithm.key) return false;
    try {
      return verify(algorithm.hash, Buffer.from(text), { key, ...algorithm.padding }, signature);
    } catch {
      // A signature whose length doesn't fit the key.
      return false;
    }
  };
}
