import type { Language } from '#contract/languages.ts';
import type { RenderedPage } from '#contract/page.ts';
import type { Texts } from './messages.ts';

type TextsModule = Promise<{ default: Texts }>;

/** Each language is its own file, so a visitor loads only one. */
const files: Record<Language, () => TextsModule> = {
  en: () => import('#messages/en.json', { with: { type: 'json' } }),
  de: () => import('#messages/de.json', { with: { type: 'json' } }),
  es: () => import('#messages/es.json', { with: { type: 'json' } }),
  pl: () => import('#messages/pl.json', { with: { type: 'json' } }),
  nl: () => import('#messages/nl.json', { with: { type: 'json' } }),
  it: () => import('#messages/it.json', { with: { type: 'json' } }),
};

/** `own`: the texts that replace ours on this page. */
export async function loadTexts(language: Language, own: RenderedPage['ownTexts'] = {}): Promise<Texts> {
  const { default: texts } = await files[language]();
  return { ...texts, ...own[language] };
}
