import type { FastifyRequest } from 'fastify';
import { acceptableDestination, defaultDestination } from '#contract/destination.ts';
import type { Deps } from '../deps/deps.ts';
import { isTrustedProxy } from '../http/client-address.ts';
import { wantsPage } from '../http/request-url.ts';

/**
 * The page that a person asked a trusted proxy for when it asks us who they are, as a path with its query; null if the
 * proxy wants a bare refusal, or a script asked. Nobody else's `X-Forwarded-Uri` counts.
 */
export function pageBehindProxy({ config }: Deps, request: FastifyRequest): string | null {
  const { headers } = request;
  const uri = headers['x-forwarded-uri'];
  const method = headers['x-forwarded-method'] ?? 'GET';
  if (typeof uri !== 'string' || method !== 'GET' || !wantsPage(request)) return null;
  if (!isTrustedProxy(request.socket.remoteAddress, config.trustedProxies)) return null;
  return acceptableDestination(uri, config.destinationRules) ?? defaultDestination(config.basePath);
}
