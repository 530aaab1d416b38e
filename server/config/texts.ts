import type { Language } from '#contract/languages.ts';
import type { OwnTexts } from '#contract/page.ts';
import { typesetTexts } from '#contract/typeset.ts';
import de from '#messages/de.json' with { type: 'json' };
import en from '#messages/en.json' with { type: 'json' };
import es from '#messages/es.json' with { type: 'json' };
import it from '#messages/it.json' with { type: 'json' };
import nl from '#messages/nl.json' with { type: 'json' };
import pl from '#messages/pl.json' with { type: 'json' };

import { didYouMean } from './read-config-file.ts';

export type TextKey = keyof typeof en;

/** A missing text in any language is a compile error. */
const plain: Record<Language, Readonly<Record<TextKey, string>>> = { en, de, es, pl, nl, it };

const typesetOnes: Partial<typeof plain> = {};

/** Our own texts in a language, as they are shown: those that a brand may replace. */
export function originalTexts(language: Language): Readonly<Record<TextKey, string>> {
  typesetOnes[language] ??= typesetTexts(language, plain[language]);
  return typesetOnes[language];
}

/** Typesets the operator's texts like ours. Adds those that cannot stand in place of ours to `problems`. */
export function readTexts(given: OwnTexts, problems: string[]): OwnTexts {
  const read = Object.entries(given).map(([language, texts]) => {
    const original: Readonly<Record<string, string>> = originalTexts(language as Language);
    for (const [key, text] of Object.entries(texts)) {
      const problem = Object.hasOwn(original, key)
        ? problemOf(text, original[key] as string)
        : `is not the key of a text${didYouMean(key, Object.keys(original))}`;
      if (problem) problems.push(`texts.${language}.${key}: ${problem}`);
    }
    return [language, typesetTexts(language as Language, texts)];
  });
  return Object.fromEntries(read);
}

function problemOf(text: string, original: string): string | null {
  if (/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(text)) return 'must be one line without control characters';
  if (text.trim() === '') return 'must not be empty';
  const [wanted, found] = [placeholdersOf(original), placeholdersOf(text)];
  const unknown = found.filter((name) => !wanted.includes(name));
  if (unknown.length > 0) return `has an unknown placeholder: ${unknown.join(', ')}`;
  const missing = wanted.filter((name) => !found.includes(name));
  return missing.length > 0 ? `needs the placeholder ${missing.join(', ')}` : null;
}

function placeholdersOf(text: string): string[] {
  return [...new Set(text.match(/\{\w+\}/g) ?? [])];
}
