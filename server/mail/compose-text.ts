import type { Language } from '#contract/languages.ts';
import type { OwnTexts } from '#contract/page.ts';
import { originalTexts, type TextKey } from '../config/originals.ts';

/** The texts of emails; pages don't have them. */
export type MailTextKey = Extract<TextKey, `mail-${string}`>;

/** The language of an email, and the texts of its brand that replace ours. */
export type Voice = { language: Language; texts: OwnTexts };

/** A text of an email in our own words, its `{placeholders}` filled. */
export function composeText(language: Language, key: MailTextKey, placeholders?: Record<string, string>): string {
  return brandedText({ language, texts: {} }, key, placeholders);
}

/** The same in the words of a brand. */
export function brandedText(
  { language, texts }: Voice,
  key: MailTextKey,
  placeholders: Record<string, string> = {},
): string {
  const text = texts[language]?.[key] ?? originalTexts(language)[key];
  return text.replace(/\{(\w+)\}/g, (whole, name) => placeholders[name] ?? whole);
}
