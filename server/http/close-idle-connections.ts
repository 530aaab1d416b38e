import type { Server } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
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

/**
 * Waits for a moment at which every connection that has arrived is accepted: those that still wait when a server stops
 * listening are reset, with the request that a proxy may have sent on them. A turn of the event loop accepts all of them,
 * so the moment is after a turn that took less than `limits.quickTurn`, or after the last of a hundred.
 */
export async function untilConnectionsAreAccepted(): Promise<void> {
  // The turn under way has begun already: the first whole one is the next.
  await nextTurn();
  for (let turn = 0; turn < 100; turn += 1) {
    const began = performance.now();
    await nextTurn();
    if (performance.now() - began < limits.quickTurn) return;
  }
}
