import { type PageCall, pageCallUrl } from '#contract/page-calls.ts';
import { type PlainScreen, queryNames, type Screen, screenUrl } from '#contract/screens.ts';
import { parameterOf } from './query.ts';
import { useVisit } from './visit.ts';

/** Query parameters kept throughout the portal, so that language, name and destination are not lost. */
const carriedNames = [queryNames.language, queryNames.login, queryNames.destination] as const;

/** Addresses of screens and calls, for links on this page. */
export function usePortalUrls() {
  const { page, place } = useVisit();
  const { basePath } = page.rules;
  const carried = Object.fromEntries(carriedNames.map((name) => [name, parameterOf(place.search, name) ?? undefined]));
  const { lang: language } = carried;
  return {
    /** The language that the address requests. */
    language,
    toScreen: (screen: PlainScreen | Screen, query: Query = {}) =>
      screenUrl(basePath, screen, { ...carried, ...given(query) }),
    toCall: (call: PageCall, query: Query = {}) =>
      pageCallUrl(basePath, call) + queryOf({ lang: language, ...(!page.isStatic && query) }),
  };
}

type Query = Record<string, string | undefined>;

function given(query: Query): Record<string, string> {
  return Object.fromEntries(Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function queryOf(query: Query): string {
  const text = new URLSearchParams(given(query)).toString();
  return text && `?${text}`;
}
