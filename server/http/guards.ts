import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Deps } from '../deps.ts';
import { limits } from '../limits.ts';
import { insertEventOnceAMinute } from '../storage/sign-in.ts';
import { originKeys } from '../throttle/throttle-keys.ts';
import { clientAddress } from './client-address.ts';
import { refuse } from './refuse.ts';
import { splitUrl } from './request-url.ts';
import { isFromOwnOrigin } from './same-origin.ts';

const harmlessMethods = new Set(['GET', 'HEAD']);

/** Refuses what no route should see: a foreign Host, a heap of headers, a state-changing request from another site. */
export function guardRequest(deps: Deps): onRequestHookHandler {
  return async function guard(request, reply) {
    if (request.raw.rawHeaders.length > 2 * limits.headerCount) return await refuse(deps, request, reply, 431);
    if (!isServedHost(deps, request)) return await refuse(deps, request, reply, 421);
    if (harmlessMethods.has(request.method) || isFromOwnOrigin(request.headers, deps.config.origins)) return;
    return await refuseForeignSite(deps, request, reply);
  };
}

/** Probes come from machines that know us by any name; they are told nothing that matters. */
const probePaths = new Set(['/healthz', '/readyz']);

function isServedHost(deps: Deps, request: FastifyRequest): boolean {
  if (probePaths.has(splitUrl(request.url).path)) return true;
  return deps.config.hosts.includes((request.headers.host ?? '').toLowerCase());
}

/** Answers 403 with nothing changed; the record of it must not make the refusal fail. */
export async function refuseForeignSite(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const address = addressOf(deps, request);
  const steps = [
    {
      step: 'origin',
      outcome: `${request.method} ${splitUrl(request.url).path} from ${(request.headers.origin ?? 'elsewhere').slice(0, 256)}`,
    },
  ];
  await insertEventOnceAMinute(
    deps.sql,
    { event: 'request-refused', requestId: request.id, steps, ...(address && { address }) },
    `foreign-site:${address && originKeys(address)[0].key}`,
    deps.now(),
  ).catch((error: unknown) => request.log.error({ err: error }, 'a refused request could not be recorded'));
  return await refuse(deps, request, reply, 403);
}

/** The address of the client, or null when it cannot be told and the request must be refused. */
export function addressOf(deps: Deps, request: FastifyRequest): string | null {
  return clientAddress(request.socket.remoteAddress, request.headers['x-forwarded-for'], deps.config.trustedProxies);
}
