import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { insertEventOnceAMinute } from '../audit/audit-event.ts';
import type { Deps } from '../deps.ts';
import { limits } from '../limits.ts';
import { recordKey } from '../throttle/throttle-keys.ts';
import { clientAddress, forgottenProxyNotice } from './client-address.ts';
import { isFromOwnOrigin } from './fetch-metadata.ts';
import { refuse } from './refuse.ts';
import { recordable, splitUrl } from './request-url.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The client's address in canonical form; empty for what may be asked without one (`needNoAddress`). */
    address: string;
  }
  interface FastifyContextConfig {
    isHubs?: true;
    /** Whether it is posted by a provider, or from its site: authenticated by our request or its signature. */
    isProviders?: true;
  }
}

const harmlessMethods = new Set(['GET', 'HEAD']);

/**
 * Refuses what no route should see: an ambiguous request, too many headers, a foreign Host, a client whose address is unknown, a
 * state-changing request from another site. A plain callback, since every request passes here and only refusals wait.
 */
export function guardRequest(deps: Deps): onRequestHookHandler {
  const noticeForgottenProxy = forgottenProxyNotice(deps);
  return function guard(request, reply, done) {
    noticeForgottenProxy(request);
    const refusal = refusalOf(deps, request, reply);
    if (refusal) refusal.catch(done);
    else done();
  };
}

function refusalOf(deps: Deps, request: FastifyRequest, reply: FastifyReply): Promise<unknown> | null {
  const { trustedProxies } = deps.config;
  request.address =
    clientAddress(request.socket.remoteAddress, request.headers['x-forwarded-for'], trustedProxies) ?? '';
  if (isAmbiguous(request)) return refuse(deps, reply.header('connection', 'close'), 400);
  if (request.raw.rawHeaders.length > 2 * limits.headerCount) return refuse(deps, reply, 431);
  if (!isServedHost(deps, request)) return refuse(deps, reply, 421, { detail: 'This host is not served here.' });
  if (request.address === '' && !needNoAddress.has(splitUrl(request.url).path)) {
    const { remoteAddress: proxy = '' } = request.socket;
    const detail = `The client address could not be determined: see what the proxy ${proxy} sends as X-Forwarded-For.`;
    return refuse(deps, reply, 400, { detail, proxy });
  }
  const { isHubs, isProviders } = request.routeOptions.config;
  // The gate judges by the path's rule where a request for the hub may come from.
  if (isHubs || isProviders) return null;
  if (harmlessMethods.has(request.method) || isFromOwnOrigin(request.headers, deps.config.origins)) return null;
  return refuseForeignSite(deps, reply);
}

/**
 * What Node accepts and a proxy before us may read differently: a whole URL as target, transfer codings besides chunked
 * (RFC 9112 §6.1), no Host or two (§3.2), another protocol version. HTTP/1.0 probes send no Host.
 */
function isAmbiguous({ raw, url }: FastifyRequest): boolean {
  const { rawHeaders, headers, httpVersion } = raw;
  if (!url.startsWith('/') || (httpVersion !== '1.1' && httpVersion !== '1.0')) return true;
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return true;
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.toLowerCase() === 'host') hosts += 1;
  return hosts > 1 || (hosts === 0 && !probePaths.has(splitUrl(url).path));
}

/** Probes come from machines that know us by any name; they learn nothing important. */
const probePaths = new Set(['/healthz', '/readyz']);
/** So does the monitoring, which reads each instance by its own address and shows a token that no browser has. */
const namelessPaths = new Set([...probePaths, '/metrics']);

/** So do hubs behind the same proxies, which read the keys of their tokens. */
const needNoAddress = new Set([...namelessPaths, '/.well-known/jwks.json']);

function isServedHost(deps: Deps, request: FastifyRequest): boolean {
  if (namelessPaths.has(splitUrl(request.url).path)) return true;
  return deps.config.hosts.includes((request.headers.host ?? '').toLowerCase());
}

/** Answers 403 with nothing changed; a failure to record it must not break the refusal. */
export async function refuseForeignSite(deps: Deps, reply: FastifyReply): Promise<FastifyReply> {
  const { request } = reply;
  const { address } = request;
  const steps = [
    {
      step: 'origin',
      outcome: `${request.method} ${recordable(splitUrl(request.url).path)} from ${recordable(request.headers.origin ?? 'elsewhere')}`,
    },
  ];
  await insertEventOnceAMinute(
    deps.sql,
    { event: 'request-refused', requestId: request.id, steps, address },
    recordKey('foreign-site', address),
    deps.now(),
  ).catch((error: unknown) => request.log.error({ err: error }, 'a refused request could not be recorded'));
  return await refuse(deps, reply, 403, { detail: 'The request came from another site.' });
}
