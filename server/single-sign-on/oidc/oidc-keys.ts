import { createPublicKey } from 'node:crypto';
import { calculateJwkThumbprint, type JWK } from 'jose';
import type { PortalKey } from '../portal-keys.ts';

/**
 * The public part of a key of the portal (RFC 7517), which providers check our signature with; without `alg`, as one
 * provider wants RS256 and the next PS256.
 */
export async function publicJwk({ certificate }: Pick<PortalKey, 'certificate'>): Promise<JWK> {
  const { kty, n, e } = createPublicKey(certificate).export({ format: 'jwk' }) as JWK & { kty: 'RSA' };
  const key = { kty, n, e } as JWK;
  return { ...key, kid: await calculateJwkThumbprint(key), use: 'sig' };
}
