import type { Language } from '#contract/languages.ts';
import { typeset } from '#contract/typeset.ts';

const day = { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' } as const;
const minute = { ...day, hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZoneName: 'short' } as const;

/** Making one takes longer than all else of an entry in a list, and keeps memory outside the heap. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** A time as people read it. Without a script nobody knows the reader's time zone: it is named, as in emails. */
export function timeInWords(time: string, language: Language): string {
  return inWords(time, language, minute);
}

export function dayInWords(time: string, language: Language): string {
  return inWords(time, language, day);
}

function inWords(time: string, language: Language, options: typeof day | typeof minute): string {
  const key = `${language} ${options === minute}`;
  const format = formats.get(key) ?? new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, options);
  formats.set(key, format);
  return typeset(language, format.format(new Date(time)));
}
