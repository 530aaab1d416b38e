import type { Language } from '#contract/languages.ts';

const secondsInMinute = 60;

/** “in 40 seconds”, “in 5 minutes”, inflected for the language. */
export function relativeTime(language: Language, seconds: number): string {
  const format = new Intl.RelativeTimeFormat(language);
  const wait = Math.max(1, seconds);
  if (wait <= 2 * secondsInMinute) return format.format(wait, 'second');
  return format.format(Math.ceil(wait / secondsInMinute), 'minute');
}
