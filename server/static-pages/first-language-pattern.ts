import { type Language, languages } from '#contract/languages.ts';

/**
 * A regular expression, to be compared without regard to case, that matches an Accept-Language header if `language` is the
 * first of ours in it. Browsers put the best first; an order by weights alone is beyond a regular expression. It uses
 * nothing that RE2 lacks.
 */
export function firstLanguagePattern(language: Language): string {
  return `^\\s*(?:(?:${entryOfNone})?,\\s*)*${language}(?:[-_][^,;]*)?\\s*(?:,|$|;\\s*q=(?:1|0?\\.\\d*[1-9]))`;
}

const seconds = Map.groupBy(languages, ([first]) => first as string);
const startOf = (first: string) => (seconds.get(first) ?? []).map(([, second]) => second).join('');

/** An entry of the header that names none of our languages, or refuses one. */
const entryOfNone = [
  `[^${[...seconds.keys()].join('')},\\s][^,]*`,
  ...[...seconds.keys()].flatMap((first) => [
    `${first}(?:[^${startOf(first)},][^,]*)?`,
    `${first}[${startOf(first)}][a-z][^,]*`,
  ]),
  `(?:${languages.join('|')})(?:[-_][^,;]*)?\\s*;\\s*q=0(?:\\.0*)?\\s*`,
].join('|');
