import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../../deps/deps.ts';
import { portalKeys } from '../portal-keys.ts';
import { publicJwk } from './keys.ts';

/** `GET authenticate/oidc/keys`: the keys that verify private_key_jwt, including the next one ahead of its use. */
export function oidcKeysRoute(deps: Deps) {
  return async function oidcKeys(_request: FastifyRequest, reply: FastifyReply) {
    const keys = await Promise.all((await portalKeys(deps)).map(publicJwk));
    return reply.header('content-type', 'application/jwk-set+json').send(JSON.stringify({ keys }));
  };
}
