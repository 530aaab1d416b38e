import type { Language } from './languages.ts';

const noBreakSpace = '\u00a0';
const noBreakHyphen = '\u2011';
const softHyphen = '\u00ad';

/** A longer word has to break on a narrow screen. */
const longestWhole = 14;

/** “E-Mail” is never split; “sign-in” is not in a heading or a sentence. */
const startsWithOneLetter = /^\p{L}-/u;
const wordWithHyphens = /(?<![\p{L}\p{N}\u00ad\u2011-])\p{L}+(?:-\p{L}+)+(?![\p{L}\p{N}\u00ad\u2011-])/gu;
const singleSignOn = /(?<=\bsingle) (?=sign[-\u2011]on\b)/gi;
const afterNumber = /(\d|\{(?:shortest|longest|position|length|minutes)\}) (?=\p{L})/gu;
/** Polish prepositions and conjunctions of one letter belong to the word after them. */
const afterPolishLetter = /(?<![\p{L}\p{N}])([aiouwz]) /giu;

/** Where a word that is wider than a phone may break. */
const seams: Partial<Record<Language, RegExp>> = {
  de: /(?<=Authenti)(?=fizierung)/g,
  nl: /(?<=tweestaps)(?=verificatie)/gi,
};

/**
 * A text of messages/ as it is shown: no line ends after a number, within “E-Mail”, in a title or a sentence within any
 * short word with a hyphen, or after a Polish word of one letter, and the longest words may break. The files have plain
 * spaces and hyphens only. On labels, buttons and links hyphens stay plain, for people who say them to press one.
 */
export function typeset(language: Language, text: string, isTitle = false): string {
  const spaced = language === 'pl' ? text.replace(afterPolishLetter, `$1${noBreakSpace}`) : text;
  return spaced
    .replace(afterNumber, `$1${noBreakSpace}`)
    .replace(wordWithHyphens, (word) => (isTitle || text.endsWith('.') ? keptTogether(word) : keptIfOneLetter(word)))
    .replace(isTitle ? singleSignOn : /(?!)/, noBreakSpace)
    .replace(seams[language] ?? /(?!)/, softHyphen);
}

/** The parts of a word stay together as far as they are short: “Zwei-Faktor” before “-Authentifizierung”. */
function keptTogether(word: string): string {
  let length = -1;
  return word.split('-').reduce((kept, part) => {
    const isShort = length + 1 + part.length <= longestWhole;
    const hyphen = isShort ? noBreakHyphen : '-';
    length = isShort ? length + 1 + part.length : part.length;
    return kept === '' ? part : kept + hyphen + part;
  }, '');
}

function keptIfOneLetter(word: string): string {
  return startsWithOneLetter.test(word) && word.length <= longestWhole ? word.replaceAll('-', noBreakHyphen) : word;
}

/** All texts of one language, as they are shown. Subjects stay plain: mailboxes sort and search them. */
export function typesetTexts<Texts extends Record<string, string>>(language: Language, texts: Texts): Texts {
  const shown = (key: string, text: string) =>
    key.endsWith('-subject') ? text : typeset(language, text, key.endsWith('-title'));
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, shown(key, text)])) as Texts;
}
