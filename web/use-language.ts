import { startTransition, useEffect, useState } from 'react';
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

/** The language of the page with its texts. `choose` throws if the texts of another do not come. */
export function useLanguage(first: { language: Language; texts: Texts }, own: RenderedPage['ownTexts']) {
  const [spoken, setSpoken] = useState(first);

  useEffect(() => {
    document.documentElement.lang = spoken.language;
  }, [spoken]);

  async function choose(language: Language): Promise<void> {
    const texts = await loadTexts(language, own);
    startTransition(() => setSpoken({ language, texts }));
  }

  return { ...spoken, choose };
}
