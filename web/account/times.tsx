import type { Language } from '#contract/languages.ts';
import { typeset } from '#contract/typeset.ts';
import { useApp } from '../app-context.ts';
import { type AccountKey, useBehind } from './account-context.tsx';

const day = { day: 'numeric', month: 'long', year: 'numeric' } as const;
/** How days and minutes are written in every language, as in emails. */
const styles = {
  day,
  minute: { ...day, hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZoneName: 'short' },
  clock: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
} as const;

/** Making one takes longer than all else of an entry in a list, and keeps memory outside the heap. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** A time as people read it; `timeZone`: undefined for the browser's own. */
function inWords(time: Date, style: keyof typeof styles, language: Language, timeZone?: 'UTC'): string {
  const key = `${language} ${style}`;
  const locale = language === 'en' ? 'en-GB' : language;
  const format = formats.get(key) ?? new Intl.DateTimeFormat(locale, { ...styles[style], timeZone });
  formats.set(key, format);
  return typeset(language, format.format(time));
}

type Props = { at: Date; isDay?: boolean };

/** A time in UTC, which it names: only a script knows the reader's own zone. */
export function Time({ at, isDay = false }: Props) {
  const { language } = useApp();
  const style = isDay ? 'day' : 'minute';
  return (
    <time dateTime={at.toISOString()} data-style={style}>
      {inWords(at, style, language, 'UTC')}
    </time>
  );
}

/** A day or a time of day that stays in UTC, where the page counts its days so. */
export function TimeInUtc({ at, style }: { at: Date; style: 'day' | 'clock' }) {
  const { language } = useApp();
  return <time dateTime={at.toISOString()}>{inWords(at, style, language, 'UTC')}</time>;
}

type TextProps = { text: AccountKey; at: Date | null; isDay?: boolean };

/** A text with a time in it, or without one where there is none. */
export function TextAt({ text: key, at, isDay = false }: TextProps) {
  const text = useBehind().text(key);
  if (at === null) return text;
  const [before, after] = text.split('{time}');
  return (
    <span>
      {before}
      <Time at={at} isDay={isDay} />
      {after}
    </span>
  );
}

/** Writes the times of the page in the zone of the browser. */
export function showLocalTimes(language: Language): void {
  for (const element of document.querySelectorAll<HTMLTimeElement>('time[data-style]'))
    element.textContent = inWords(new Date(element.dateTime), element.dataset.style as keyof typeof styles, language);
}
