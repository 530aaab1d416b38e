import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps.ts';
import { minute } from '../limits.ts';
import { hubKeys } from './hub-keys.ts';

/** How long a hub may cache the keys, and how long before its first use a new key is published. */
const hubKeysCached = 5 * minute;

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
      .header('cache-control', `public, max-age=${hubKeysCached / 1000}`)
      .header('access-control-allow-origin', '*')
      .header('cross-origin-resource-policy', 'cross-origin')
      .send(JSON.stringify({ keys: published.map(({ jwk }) => jwk) }));
  };
}
