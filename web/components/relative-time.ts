import type { Language } from '#contract/languages.ts';

const secondsInMinute = 60;

/** “in 40 seconds”, “in 5 minutes”, inflected for the language. */
export function relativeTime(language: Language, seconds: number): string {
  const wait = Math.max(1, seconds);
  const isShort = wait <= 2 * secondsInMinute;
  return new Intl.RelativeTimeFormat(language)
    .format(isShort ? wait : Math.ceil(wait / secondsInMinute), isShort ? 'second' : 'minute')
    .replace(/(\d) /, '$1\u00a0');
}
