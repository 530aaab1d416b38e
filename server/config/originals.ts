import type { Language } from '#contract/languages.ts';
import { typesetTexts } from '#contract/typeset.ts';
import de from '#messages/de.json' with { type: 'json' };
import en from '#messages/en.json' with { type: 'json' };
import es from '#messages/es.json' with { type: 'json' };
import it from '#messages/it.json' with { type: 'json' };
import nl from '#messages/nl.json' with { type: 'json' };
import pl from '#messages/pl.json' with { type: 'json' };

export type TextKey = keyof typeof en;

/** A missing text in any language is a compile error. */
const plain: Record<Language, Readonly<Record<TextKey, string>>> = { en, de, es, pl, nl, it };

const typesetOnes: Partial<typeof plain> = {};

/** Our own texts in a language, as they are shown: those that a brand may replace. */
export function originalTexts(language: Language): Readonly<Record<TextKey, string>> {
  typesetOnes[language] ??= typesetTexts(language, plain[language]);
  return typesetOnes[language];
}
