import type { FastifyRequest } from 'fastify';
import type { Deps } from '../deps/deps.ts';

/**
 * Whether a page of another origin asked a proxy for a WebSocket: the browser sends cookies with it if the origin is on the
 * same site, and no CORS answer protects it (RFC 6455 §10.2).
 */
export function isForeignSocket({ config }: Deps, { headers }: FastifyRequest): boolean {
  // Proxies drop Upgrade from the question, a handshake over HTTP/2 has no key, and browsers may leave the mode out.
  const isSocket =
    headers['sec-websocket-key'] !== undefined ||
    headers['sec-fetch-mode'] === 'websocket' ||
    /\bwebsocket\b/i.test(headers.upgrade ?? '');
  return isSocket && headers.origin !== undefined && !config.origins.includes(headers.origin);
}
