import { type Language, languageOfTag } from '#contract/languages.ts';
import { hasAddress, type Page, type PageScreen } from '#contract/page.ts';
import { queryNames, type Screen, screenOfPath } from '#contract/screens.ts';

export type Address = { pathname: string; search: string; hash: string };

export function parameterOf(search: string, name: string): string | null {
  return new URLSearchParams(search).get(name);
}

/** The name in the address, cut to what the form sends (`longestUsername` in contract/payloads.ts); empty if there is none. */
export function loginOf(search: string): string {
  return (parameterOf(search, queryNames.login) ?? '').slice(0, 320);
}

export function withoutParameters(search: string, names: readonly string[]): string {
  const query = new URLSearchParams(search);
  if (!names.some((name) => query.has(name))) return search;
  for (const name of names) query.delete(name);
  return String(query) && `?${query}`;
}

/** The query, plus what only the other one has. */
export function withMissingOf(search: string, other: string): string {
  const all = parametersOf(search);
  for (const [name, value] of parametersOf(other)) if (!all.has(name)) all.append(name, value);
  return String(all) && `?${all}`;
}

/** A reason may be a bare number (specification §2). */
const parametersOf = (search: string) => new URLSearchParams(search.replace(/^\?(\d+)=?(?=&|$)/, '?reason=$1'));

export function withParameter(search: string, name: string, value: string): string {
  const query = new URLSearchParams(search);
  query.set(name, value);
  return `?${query}`;
}

/** An address without the named parameters in its query and in that of its fragment. */
export function addressWithout({ pathname, search, hash }: Address, names: readonly string[]): Address {
  return {
    pathname,
    search: withoutParameters(search, names),
    hash: hash.replace(/\?.*/s, (own) => withoutParameters(own, names)),
  };
}

/** Where in the portal a visitor is: the screen, its query, and the address shown on the not-found screen. */
export type Place = { screen: Screen; search: string; address: string };

/** The place that a path and query name, ignoring any fragment. */
export function placeOfUrl(url: string, basePath: string): Place {
  const [pathname = '', ...queries] = url.split('?');
  const search = queries.length > 0 ? `?${queries.join('?')}` : '';
  const below = pathname.startsWith(basePath) ? pathname.slice(basePath.length) : pathname;
  return { screen: screenOfPath(below), search, address: url };
}

/** What is shown at a place: what the server sent, if it is of that screen or of none. */
export function screenAt({ screen }: Page, place: Place): PageScreen {
  if (!hasAddress(screen)) return screen;
  return screen.name === place.screen.name ? ({ ...screen, ...place.screen } as PageScreen) : place.screen;
}

export function languageOfSearch(search: string): Language | null {
  return languageOfTag(parameterOf(search, queryNames.language) ?? '');
}

/** The address in another language; drops the language in its fragment, which would win. */
export function addressInLanguage(address: Address, language: Language): string {
  const { pathname, search, hash } = addressWithout(address, [queryNames.language]);
  return pathname + withParameter(search, queryNames.language, language) + hash;
}
