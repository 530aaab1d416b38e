import type { Language } from '#contract/languages.ts';
import type { RenderedPage } from '#contract/page.ts';
import type { Texts } from './messages.ts';

/** Each language is its own file, so a visitor loads only one. */
const files = import.meta.glob<{ default: Texts }>('/messages/*.json');

/** `own`: the texts that replace ours on this page. */
export async function loadTexts(language: Language, own: RenderedPage['ownTexts'] = {}): Promise<Texts> {
  const file = await files[`/messages/${language}.json`]?.();
  return { ...(file?.default as Texts), ...own[language] };
}
