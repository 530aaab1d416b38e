import type { FastifyRequest } from 'fastify';
import { acceptableDestination, defaultDestination } from '#contract/destination.ts';
import type { Deps } from '../deps/deps.ts';
import { isTrustedProxy } from '../http/client-address.ts';
import { wantsPage } from '../http/request-url.ts';
import type { AskedOfSession } from './asked-of-session.ts';

/**
 * The page that a person asked a trusted proxy for when it asks us who they are, as a path with its query; null if the
 * proxy wants a bare refusal, or a script asked. It is in the call's own address or in `X-Forwarded-Uri`, and nobody else's
 * counts.
 */
export function pageBehindProxy({ config }: Deps, request: FastifyRequest, asked: AskedOfSession): string | null {
  const { headers } = request;
  const uri = asked.page ?? headers['x-forwarded-uri'];
  const method = asked.page === null ? (headers['x-forwarded-method'] ?? 'GET') : request.method;
  if (typeof uri !== 'string' || method !== 'GET' || !wantsPage(request)) return null;
  if (!isTrustedProxy(request.socket.remoteAddress, config.trustedProxies)) return null;
  return acceptableDestination(uri, config.destinationRules) ?? defaultDestination(config.basePath);
}
