import { providerWords } from '../provider-words.ts';

/** What somebody else said, in quotes, for an operator to read; `nothing` when nothing was said. */
export function said(text: string | null | undefined): string {
  return text === null || text === undefined ? 'nothing' : `"${providerWords(text)}"`;
}
