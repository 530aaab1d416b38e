import type { FastifyRequest } from 'fastify';
import type { Deps } from '../deps/deps.ts';

/**
 * Whether a page of another origin asked a proxy for a WebSocket: the browser sends cookies with it if the origin is on the
 * same site, and no CORS answer protects it (RFC 6455 §10.2).
 */
export function isForeignSocket({ config }: Deps, { headers }: FastifyRequest): boolean {
  // Not by Upgrade, which proxies drop from the question.
  const isSocket = headers['sec-websocket-key'] !== undefined || headers['sec-fetch-mode'] === 'websocket';
  return isSocket && headers.origin !== undefined && !config.origins.includes(headers.origin);
}
