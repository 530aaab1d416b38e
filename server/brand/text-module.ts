import type { Language } from '#contract/languages.ts';
import type { BrandTexts } from './brand.ts';
import { originalTexts } from './originals.ts';

/** Texts that browsers do not load, as in the page build (vite.config.ts). */
const notForPages = /^(?:mail-|account-|invitation-|description$)/;

/** The script with all texts of a language, those of the brand among them; it takes the place of the build's. */
export function textModule(language: Language, texts: BrandTexts): string {
  const all = Object.entries({ ...originalTexts(language), ...texts[language] });
  return `export default ${JSON.stringify(Object.fromEntries(all.filter(([key]) => !notForPages.test(key))))}`;
}
