import { type Language, languageOfTag } from '#contract/languages.ts';
import { queryNames } from '#contract/screens.ts';
import type { Address } from './query.ts';
import { parameterOf, pathOfHash, searchOfHash, withoutParameters, withParameter } from './query.ts';

/** The language that a query requests, or null. */
export function languageOfSearch(search: string): Language | null {
  return languageOfTag(parameterOf(search, queryNames.language) ?? '');
}

/** The address in another language; drops the language in its fragment, which would win. */
export function addressInLanguage({ pathname, search, hash }: Address, language: Language): string {
  const own = searchOfHash(hash);
  const rest = own === '' ? hash : `#${pathOfHash(hash)}${withoutParameters(own, [queryNames.language])}`;
  return pathname + withParameter(search, queryNames.language, language) + rest;
}
