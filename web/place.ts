import { type Screen, screenOfPath } from '#contract/screens.ts';

/** Where in the portal a visitor is: the screen, its query, and the address shown on the not-found screen. */
export type Place = { screen: Screen; search: string; address: string };

/** The part of an address below the base path. */
function pathBelow(basePath: string, pathname: string): string {
  return pathname.startsWith(basePath) ? pathname.slice(basePath.length) : pathname;
}

/** The place that a path and query name, ignoring any fragment. */
export function placeOfUrl(url: string, basePath: string): Place {
  const [pathname = '', ...queries] = url.split('?');
  const search = queries.length > 0 ? `?${queries.join('?')}` : '';
  return { screen: screenOfPath(pathBelow(basePath, pathname)), search, address: url };
}
