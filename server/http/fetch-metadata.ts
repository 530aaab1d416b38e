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
  const named = [origin, referer === undefined ? undefined : originOf(referer)].filter((one) => one !== undefined);
  return named.length > 0 && named.every((one) => ownOrigins.includes(one));
}

function originOf(address: string): string {
  return URL.parse(address)?.origin ?? 'null';
}

/**
 * Refuses requests that the browser marks as something other than the person opening a page: images, scripts,
 * prefetches. Any website can cause these, and they would use up the limits of an address. Runs before everything that
 * counts, and stores nothing. Older browsers mark nothing.
 */
export function onlyNavigation(deps: Deps, { inFrames = false } = {}): onRequestAsyncHookHandler {
  return async function navigation(request: FastifyRequest, reply: FastifyReply) {
    const mode = request.headers['sec-fetch-mode'];
    const isWanted = isInFrame(request) ? inFrames : destinationOf(request) === 'document';
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

/** Whether the browser says that the page is for a frame, which may be another site's. */
function isInFrame(request: FastifyRequest): boolean {
  return ['iframe', 'frame'].includes(destinationOf(request));
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

function destinationOf({ headers }: FastifyRequest): string {
  return String(headers['sec-fetch-dest'] ?? 'document');
}
