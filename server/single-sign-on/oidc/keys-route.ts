import { createPublicKey } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { calculateJwkThumbprint, type JWK } from 'jose';
import type { Deps } from '../../deps.ts';
import { type PortalKey, portalKeys } from '../portal-keys.ts';

/** `GET authenticate/oidc/keys`: the keys that verify private_key_jwt, including the next one ahead of its use. */
export function oidcKeysRoute(deps: Deps) {
  return async function oidcKeys(_request: FastifyRequest, reply: FastifyReply) {
    const keys = await Promise.all((await portalKeys(deps)).map(publicJwk));
    return reply.header('content-type', 'application/jwk-set+json').send(JSON.stringify({ keys }));
  };
}

/**
 * The public part of a portal key (RFC 7517), which verifies our signatures; without `alg`, as providers differ in
 * wanting RS256 or PS256.
 */
export async function publicJwk({ certificate }: Pick<PortalKey, 'certificate'>): Promise<JWK> {
  const { kty, n, e } = createPublicKey(certificate).export({ format: 'jwk' }) as JWK & { kty: 'RSA' };
  const key = { kty, n, e } as JWK;
  return { ...key, kid: await calculateJwkThumbprint(key), use: 'sig' };
}
