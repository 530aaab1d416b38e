import { providerWords } from '../provider-words.ts';

/** Foreign text in quotes, for an operator to read; `nothing` if there is none. */
export function said(text: string | null | undefined): string {
  return text === null || text === undefined ? 'nothing' : `"${providerWords(text)}"`;
}
