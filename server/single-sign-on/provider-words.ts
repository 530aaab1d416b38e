const longestWords = 200;

/**
 * Text from a provider, or from someone claiming to be it: one line of visible ASCII for the operator's records.
 * Nothing in it moves a terminal's cursor or ends a log line.
 */
export function providerWords(text: string): string {
  const words = text
    .slice(0, longestWords + 1)
    .replace(/[^\x20-\x7e]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return words.length > longestWords ? `${words.slice(0, longestWords - 3)}...` : words;
}

/** Foreign text in quotes, for an operator to read; `nothing` if there is none. */
export function said(text: string | null | undefined): string {
  return text === null || text === undefined ? 'nothing' : `"${providerWords(text)}"`;
}
