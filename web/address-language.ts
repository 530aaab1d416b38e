import { type Language, languageOfTag } from '#contract/languages.ts';
import { queryNames } from '#contract/screens.ts';
import { type Address, addressWithout, parameterOf, withParameter } from './query.ts';

/** The language that a query requests, or null. */
export function languageOfSearch(search: string): Language | null {
  return languageOfTag(parameterOf(search, queryNames.language) ?? '');
}

/** The address in another language; drops the language in its fragment, which would win. */
export function addressInLanguage(address: Address, language: Language): string {
  const { pathname, search, hash } = addressWithout(address, [queryNames.language]);
  return pathname + withParameter(search, queryNames.language, language) + hash;
}
