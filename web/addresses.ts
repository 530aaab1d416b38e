import { type Language, languageOfTag } from '#contract/languages.ts';
import { hasAddress, type Page, type PageScreen } from '#contract/page.ts';
import { queryNames, type Screen, screenOfPath } from '#contract/screens.ts';

export type Address = { pathname: string; search: string; hash: string };

/** A query's parameter, or null. */
export function parameterOf(search: string, name: string): string | null {
  return new URLSearchParams(search).get(name);
}

/** The name in the address, cut to what the form sends (`longestUsername` in contract/payloads.ts); empty if there is none. */
export function loginOf(search: string): string {
  return (parameterOf(search, queryNames.login) ?? '').slice(0, 320);
}

/** The query without the named parameters, otherwise verbatim (`?3` stays `?3`). */
export function withoutParameters(search: string, names: readonly string[]): string {
  const kept = entriesOf(search).filter((entry) => !names.includes(nameOf(entry)));
  return kept.length === entriesOf(search).length ? search : joined(kept);
}

/** The query, plus what only the other one has; a reason may be a bare number, which comes first (specification §2). */
export function withMissingOf(search: string, other: string): string {
  const own = entriesOf(search);
  const names = new Set(own.map(meaningOf));
  const missing = entriesOf(other).filter((entry) => !names.has(meaningOf(entry)));
  if (missing.length === 0) return search;
  const all = [...own, ...missing];
  return joined([...all.filter(isBareNumber), ...all.filter((entry) => !isBareNumber(entry))]);
}

/** The query with one parameter set. */
export function withParameter(search: string, name: string, value: string): string {
  return joined([...entriesOf(withoutParameters(search, [name])), `${name}=${encodeURIComponent(value)}`]);
}

const entriesOf = (search: string) => search.replace(/^\?/, '').split('&').filter(Boolean);
const nameOf = (entry: string) => new URLSearchParams(entry).keys().next().value ?? '';
const joined = (entries: readonly string[]) => (entries.length === 0 ? '' : `?${entries.join('&')}`);
const isBareNumber = (entry: string) => /^\d+=?$/.test(entry);
const meaningOf = (entry: string) => (isBareNumber(entry) ? queryNames.reason : nameOf(entry));

/** The route inside a fragment: `#/login?x=1` → `/login`. */
export function pathOfHash(hash: string): string {
  return hash.slice(1).split('?', 1)[0] ?? '';
}

/** The query inside a fragment: `#/login?x=1` → `?x=1`. */
export function searchOfHash(hash: string): string {
  const start = hash.indexOf('?');
  return start < 0 ? '' : hash.slice(start);
}

/** An address without the named parameters in its query and in that of its fragment. */
export function addressWithout({ pathname, search, hash }: Address, names: readonly string[]): Address {
  const own = searchOfHash(hash);
  return {
    pathname,
    search: withoutParameters(search, names),
    hash: own ? `#${pathOfHash(hash)}${withoutParameters(own, names)}` : hash,
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

/** The language that a query requests, or null. */
export function languageOfSearch(search: string): Language | null {
  return languageOfTag(parameterOf(search, queryNames.language) ?? '');
}

/** The address in another language; drops the language in its fragment, which would win. */
export function addressInLanguage(address: Address, language: Language): string {
  const { pathname, search, hash } = addressWithout(address, [queryNames.language]);
  return pathname + withParameter(search, queryNames.language, language) + hash;
}
