import type { Language } from './languages.ts';

const noBreakSpace = '\u00a0';
const noBreakHyphen = '\u2011';
const softHyphen = '\u00ad';

/** A longer word has to break on a narrow screen. */
const longestWhole = 14;

/** “E-Mail” is never split; “sign-in” is not in a heading. */
const startsWithOneLetter = /^\p{L}-/u;
const wordWithHyphens = /(?<![\p{L}\p{N}\u00ad-])\p{L}+(?:-\p{L}+)+(?![\p{L}\p{N}-])/gu;
const afterNumber = /(\d|\{(?:shortest|longest|position|length|minutes)\}) (?=\p{L})/gu;
/** Polish prepositions and conjunctions of one letter belong to the word after them. */
const afterPolishLetter = /(?<![\p{L}\p{N}])([aiouwz]) /giu;

/** Where a word that is wider than a phone may break. */
const seams: Partial<Record<Language, RegExp>> = {
  de: /(?<=Authenti)(?=fizierung)/g,
  nl: /(?<=tweestaps)(?=verificatie)/gi,
};

/**
 * A text of messages/ as it is shown: no line ends after a number, within “E-Mail”, in a title within any short word with
 * a hyphen, or after a Polish word of one letter, and the longest words may break. The files have plain spaces and
 * hyphens only. Elsewhere hyphens stay plain, for people who search for a word or say it to press a link.
 */
export function typeset(language: Language, text: string, isTitle = false): string {
  const spaced = language === 'pl' ? text.replace(afterPolishLetter, `$1${noBreakSpace}`) : text;
  return spaced
    .replace(afterNumber, `$1${noBreakSpace}`)
    .replace(wordWithHyphens, (word) => {
      const isWhole = word.length <= longestWhole && (isTitle || startsWithOneLetter.test(word));
      return isWhole ? word.replaceAll('-', noBreakHyphen) : word;
    })
    .replace(seams[language] ?? /(?!)/, softHyphen);
}

/** All texts of one language, as they are shown. Subjects stay plain: mailboxes sort and search them. */
export function typesetTexts<Texts extends Record<string, string>>(language: Language, texts: Texts): Texts {
  const shown = (key: string, text: string) =>
    key.endsWith('-subject') ? text : typeset(language, text, key.endsWith('-title'));
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, shown(key, text)])) as Texts;
}
