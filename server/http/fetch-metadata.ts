import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import type { Deps } from '../deps.ts';
import { refuse } from './refuse.ts';

/**
 * Whether a state-changing request may come from our own pages. The browser's headers about the sender
 * decide; a request without any comes from no current browser and carries nobody else's cookies.
 */
export function isFromOwnOrigin(headers: IncomingHttpHeaders, ownOrigins: readonly string[]): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  if (headers.origin !== undefined) return ownOrigins.includes(headers.origin);
  if (site === 'same-origin' || headers.referer === undefined) return true;
  const referer = URL.parse(headers.referer);
  return referer !== null && ownOrigins.includes(referer.origin);
}

/**
 * Whether a browser without Sec-Fetch-Site says that the request comes from our own pages: it sends Origin or Referer,
 * and neither is foreign.
 */
export function namesOwnOrigin({ origin, referer }: IncomingHttpHeaders, ownOrigins: readonly string[]): boolean {
  const cameFrom = referer === undefined ? undefined : (URL.parse(referer)?.origin ?? 'null');
  const named = [origin, cameFrom].filter((one) => one !== undefined);
  return named.length > 0 && named.every((one) => ownOrigins.includes(one));
}

/**
 * Refuses requests that the browser marks as something other than the person opening a page: images, scripts,
 * prefetches. Any website can cause these, and they would use up the limits of an address. Runs before everything that
 * counts, and stores nothing. Older browsers mark nothing.
 */
export function onlyNavigation(deps: Deps, { inFrames = false } = {}): onRequestAsyncHookHandler {
  return async function navigation(request: FastifyRequest, reply: FastifyReply) {
    const mode = request.headers['sec-fetch-mode'];
    const destination = String(request.headers['sec-fetch-dest'] ?? 'document');
    // The page for a frame may be another site's.
    const isWanted = destination === 'document' || (inFrames && ['iframe', 'frame'].includes(destination));
    if ((mode === undefined || mode === 'navigate') && isWanted && !isAheadOfPerson(request.headers)) return undefined;
    return await refuse(deps, reply, 403);
  };
}

/**
 * Whether the browser says it is prefetching: nobody has opened the page yet, and speculation rules on any page can
 * cause it. By the standard header, or by those of earlier browsers.
 */
export function isAheadOfPerson(headers: IncomingHttpHeaders): boolean {
  return ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'].some((name) => headers[name] !== undefined);
}

/**
 * Refuses browsers where only servers are expected: any page could make a visitor's browser send requests from the
 * visitor's address. `Sec-Fetch-Mode` alone does not identify a browser: the fetch of Node sends it.
 */
export function noBrowser(deps: Deps): onRequestAsyncHookHandler {
  return async function server(request: FastifyRequest, reply: FastifyReply) {
    const { origin, 'sec-fetch-site': site } = request.headers;
    return origin || site ? await refuse(deps, reply, 403) : undefined;
  };
}
