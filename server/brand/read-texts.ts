import type { Language } from '#contract/languages.ts';
import { typesetTexts } from '#contract/typeset.ts';
import type { BrandTexts } from './brand.ts';
import { originalTexts } from './originals.ts';

/**
 * Replaced texts that fit, typeset like ours: known keys, the placeholders of the original, plain text. Adds the others to
 * `problems`.
 */
export function readTexts(given: BrandTexts, problems: string[]): BrandTexts {
  const read = Object.entries(given).map(([language, texts]) => {
    const original: Readonly<Record<string, string>> = originalTexts(language as Language);
    const fitting = Object.entries(texts).filter(([key, text]) => {
      const problem = problemOf(key, text, Object.hasOwn(original, key) ? original[key] : undefined);
      if (problem) problems.push(`texts.${language}.${key}: ${problem}`);
      return problem === null;
    });
    return [language, typesetTexts(language as Language, Object.fromEntries(fitting))];
  });
  return Object.fromEntries(read);
}

function problemOf(key: string, text: string, original: string | undefined): string | null {
  if (original === undefined) return 'is not the key of a text';
  if (/[<>]|&#?\w+;/.test(text)) return 'must be plain text, without markup';
  if (/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(text)) return 'must be one line without control characters';
  if (text.trim() === '') return 'must not be empty';
  if (key.startsWith('mail-') && /:\/\/|\bwww\./i.test(text))
    return 'must not have an address: an email has one link, which is ours';
  const [wanted, found] = [placeholdersOf(original), placeholdersOf(text)];
  const unknown = found.filter((name) => !wanted.includes(name));
  if (unknown.length > 0) return `has an unknown placeholder: ${unknown.join(', ')}`;
  const missing = wanted.filter((name) => !found.includes(name));
  if (missing.length > 0) return `needs the placeholder ${missing.join(', ')}`;
  return /[{}]/.test(text.replace(/\{\w+\}/g, '')) ? 'has a brace that belongs to no placeholder' : null;
}

function placeholdersOf(text: string): string[] {
  return [...new Set(text.match(/\{\w+\}/g) ?? [])];
}
