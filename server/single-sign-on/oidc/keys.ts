import { createPublicKey } from 'node:crypto';
import { calculateJwkThumbprint, type JWK } from 'jose';
import type { PortalKey } from '../portal-keys.ts';

/**
 * The public part of a portal key (RFC 7517), which verifies our signatures; without `alg`, as providers differ in
 * wanting RS256 or PS256.
 */
export async function publicJwk({ certificate }: Pick<PortalKey, 'certificate'>): Promise<JWK> {
  const { kty, n, e } = createPublicKey(certificate).export({ format: 'jwk' }) as JWK & { kty: 'RSA' };
  const key = { kty, n, e } as JWK;
  return { ...key, kid: await calculateJwkThumbprint(key), use: 'sig' };
}
