import type { Language } from '#contract/languages.ts';
import { typesetTexts } from '#contract/typeset.ts';
import type { BrandTexts } from './brand.ts';
import { originals } from './originals.ts';

/** Texts that browsers do not load, as in the page build (vite.config.ts). */
const notForPages = /^(?:mail-|description$)/;

/** The script with all texts of a language, those of the brand among them; it takes the place of the build's. */
export function textModule(language: Language, texts: BrandTexts): string {
  const all = Object.entries({ ...typesetTexts(language, originals[language]), ...texts[language] });
  return `export default ${JSON.stringify(Object.fromEntries(all.filter(([key]) => !notForPages.test(key))))}`;
}
