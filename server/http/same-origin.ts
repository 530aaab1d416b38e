import type { IncomingHttpHeaders } from 'node:http';

/**
 * Whether a state-changing request may come from our own pages (decisions §6). The browser's headers about the sender
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
 * and neither is foreign (decisions §6).
 */
export function namesOwnOrigin({ origin, referer }: IncomingHttpHeaders, ownOrigins: readonly string[]): boolean {
  const named = [origin, referer === undefined ? undefined : originOf(referer)].filter((one) => one !== undefined);
  return named.length > 0 && named.every((one) => ownOrigins.includes(one));
}

function originOf(address: string): string {
  return URL.parse(address)?.origin ?? 'null';
}
