import { readFileSync } from 'node:fs';
import type { Language } from '#contract/languages.ts';
import { typesetTexts } from '#contract/typeset.ts';
import type en from '#messages/en.json';

export type MessageKey = keyof typeof en;

/** The texts of a language, as the pages show them. */
export function textsOf(language: Language): Record<MessageKey, string> {
  return typesetTexts(
    language,
    JSON.parse(readFileSync(new URL(`../../messages/${language}.json`, import.meta.url), 'utf8')),
  );
}

export const texts = textsOf('en');
