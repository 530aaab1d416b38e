import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { hubKeys } from './hub-keys.ts';

/**
 * `GET /.well-known/jwks.json`: the keys that verify hubs' tokens, the next one ahead of its use (RFC 7517 §5). Public, for
 * scripts of any origin too. Empty if no hub gets tokens.
 */
export function hubKeysRoute(deps: Deps) {
  const keys = hubKeys(deps);
  const isUsed = deps.config.hubAudiences.length > 0;
  return async function publishHubKeys(_request: FastifyRequest, reply: FastifyReply) {
    const published = isUsed ? await keys.published() : [];
    return reply
      .header('content-type', 'application/jwk-set+json')
      .header('cache-control', `public, max-age=${limits.hubKeysCached / 1000}`)
      .header('access-control-allow-origin', '*')
      .header('cross-origin-resource-policy', 'cross-origin')
      .send(JSON.stringify({ keys: published.map(({ jwk }) => jwk) }));
  };
}
