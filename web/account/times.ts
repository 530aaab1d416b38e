import type { Language } from '#contract/languages.ts';
import { typeset } from '#contract/typeset.ts';

const at = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZoneName: 'short' } as const;

/** A time as people read it. Without a script nobody knows the reader's time zone: it is named, as in emails. */
export function timeInWords(time: string, language: Language): string {
  return inWords(time, language, at);
}

export function dayInWords(time: string, language: Language): string {
  return inWords(time, language, {});
}

function inWords(time: string, language: Language, more: Intl.DateTimeFormatOptions): string {
  const format = new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
    ...more,
  });
  return typeset(language, format.format(new Date(time)));
}
