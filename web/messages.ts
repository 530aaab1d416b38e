import type { Language } from '#contract/languages.ts';
import type en from '#messages/en.json';

/** The texts that browsers load: without emails, the account page, and invitations, whose documents carry them. */
export type MessageKey = Exclude<
  keyof typeof en,
  `mail-${string}` | `account-${string}` | `invitation-${string}` | DeskTextKey
>;
export type Texts = Record<MessageKey, string>;
export type Placeholders = Record<string, string | number>;

export function filled(text: string, placeholders: Placeholders): string {
  return text.replace(/\{(\w+)\}/g, (whole, name) => String(placeholders[name] ?? whole));
}

type DeskTextKey = `desk-${string}` | `event-${string}` | `reason-${string}`;

/** Keys of texts that only the server shows: scripts have none of them. */
export const serverTexts = /^(?:mail-|account-|desk-|event-|reason-|invitation-|description$)/;

/** The minute in which a time, in milliseconds, is over: “14:32”. */
export function clockTime(language: Language, time: number): string {
  const format = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  return new Intl.DateTimeFormat(language, format).format(Math.ceil(time / 60_000) * 60_000);
}

/** “in 40 seconds”, “in 5 minutes”, inflected for the language. */
export function relativeTime(language: Language, seconds: number): string {
  const wait = Math.max(1, seconds);
  const isShort = wait <= 120;
  return new Intl.RelativeTimeFormat(language)
    .format(isShort ? wait : Math.ceil(wait / 60), isShort ? 'second' : 'minute')
    .replace(/(\d) /, '$1\u00a0');
}
