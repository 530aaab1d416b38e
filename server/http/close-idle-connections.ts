import type { Server } from 'node:http';
import { limits } from '../limits.ts';

/**
 * Closes a stopping server's connections as soon as they are idle, so that none delays the stop. Behind a proxy they are
 * first left to the proxy for `limits.proxyKeepsIdle`: a sign-in that it sends on a connection while we close it would be
 * lost, since a proxy may not repeat a POST. Call it before the server closes.
 */
export function closeIdleConnections(server: Server, { behindProxy }: { behindProxy: boolean }): void {
  const close = server.closeIdleConnections.bind(server);
  // Fastify and Node call this too when the server closes.
  server.closeIdleConnections = () => {};
  const closeFromNow = () => {
    close();
    // A connection whose answer was in progress is idle after it.
    setInterval(close, limits.stopLooksEvery).unref();
  };
  if (behindProxy) setTimeout(closeFromNow, limits.proxyKeepsIdle).unref();
  else closeFromNow();
}
