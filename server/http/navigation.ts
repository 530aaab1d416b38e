import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import type { Deps } from '../deps.ts';
import { refuse } from './refuse.ts';

/**
 * Refuses what the browser itself marks as no page that the person goes to: an image, a call, or a page loaded ahead, which
 * any page of the web can have it ask for, and which would use up what an address has. It comes before everything that
 * counts, and leaves no row. Older browsers mark nothing.
 */
export function onlyNavigation(deps: Deps, { inFrames = false } = {}): onRequestAsyncHookHandler {
  return async function navigation(request: FastifyRequest, reply: FastifyReply) {
    const mode = request.headers['sec-fetch-mode'];
    const isWanted = isInFrame(request) ? inFrames : destinationOf(request) === 'document';
    if ((mode === undefined || mode === 'navigate') && isWanted && !isAheadOfPerson(request.headers)) return undefined;
    return await refuse(deps, request, reply, 403);
  };
}

/**
 * Whether the browser says that nobody has gone there yet: it loads the page in case, as speculation rules on any page have
 * it do. By the standard name, or by those of browsers from before there was one.
 */
export function isAheadOfPerson(headers: IncomingHttpHeaders): boolean {
  return ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'].some((name) => headers[name] !== undefined);
}

/** Whether the browser says that the page is for a frame, which any other page can hold as well. */
export function isInFrame(request: FastifyRequest): boolean {
  return ['iframe', 'frame'].includes(destinationOf(request));
}

/**
 * Refuses browsers where only another server has anything to say: every page could have them speak for their address.
 * `Sec-Fetch-Mode` alone is no browser's: the fetch of Node sends it.
 */
export function noBrowser(deps: Deps): onRequestAsyncHookHandler {
  return async function server(request: FastifyRequest, reply: FastifyReply) {
    const { origin, 'sec-fetch-site': site } = request.headers;
    return origin || site ? await refuse(deps, request, reply, 403) : undefined;
  };
}

function destinationOf({ headers }: FastifyRequest): string {
  return String(headers['sec-fetch-dest'] ?? 'document');
}
