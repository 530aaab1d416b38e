import type { Language } from './languages.ts';

const noBreakSpace = '\u00a0';
const noBreakHyphen = '\u2011';

/** A longer word has to break on a narrow screen. */
const longestWhole = 14;

const wordWithHyphens = /(?<![\p{L}\p{N}-])\p{L}+(?:-\p{L}+)+(?![\p{L}\p{N}-])/gu;
const afterNumber = /(\d|\{(?:shortest|longest|position|length|minutes)\}) (?=\p{L})/gu;
/** Polish prepositions and conjunctions of one letter belong to the word after them. */
const afterPolishLetter = /(?<![\p{L}\p{N}])([aiouwz]) /giu;

/**
 * A text of messages/ as it is shown: no line ends after a number, within a short word with a hyphen (“sign-in”), or
 * after a Polish word of one letter. The files have plain spaces and hyphens only.
 */
export function typeset(language: Language, text: string): string {
  const spaced = language === 'pl' ? text.replace(afterPolishLetter, `$1${noBreakSpace}`) : text;
  return spaced
    .replace(afterNumber, `$1${noBreakSpace}`)
    .replace(wordWithHyphens, (word) => (word.length > longestWhole ? word : word.replaceAll('-', noBreakHyphen)));
}

/** All texts of one language, as they are shown. */
export function typesetTexts<Texts extends Record<string, string>>(language: Language, texts: Texts): Texts {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, typeset(language, text)])) as Texts;
}
