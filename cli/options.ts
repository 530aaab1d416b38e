import { InvalidArgumentError, Option } from 'commander';
import type { Reading } from '#server/names/read-name.ts';
import { readTime } from '#server/names/read-time.ts';
import { failure } from './print.ts';

export type OnOff = 'on' | 'off';
export type JsonFlag = { json?: true };

export const nameArgument = ['<name>', 'username or email'] as const;

export const onOff = (flags: string, description: string) =>
  new Option(`${flags} [on|off]`, description).choices(['on', 'off']).preset('on');

export const repeatable = (flags: string, description: string) =>
  new Option(flags, description).argParser(collect) as Option;

/** False stands for an earlier `--no-…`, which the option overrides. */
function collect(value: string, before: string[] | false | undefined): string[] {
  return [...new Set([...(before || []), value])];
}

/** The parsed value. Throws a failure with the problem if there is none. */
export function accepted<T>(reading: Reading<T>): T {
  if (reading.kind === 'ok') return reading.value;
  throw failure(`${reading.problem}.`);
}

export function positiveNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a whole number of at least 1.');
  return Number(text);
}

const unitsInMilliseconds: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time as operators write it: `30m`, `24h`, `7d` ago, or a date and time. */
export function pastMoment(now: Date): (text: string) => Date {
  return (text) => {
    const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
    if (count && unit) return new Date(now.getTime() - Number(count) * (unitsInMilliseconds[unit] as number));
    const moment = readTime(text, '');
    if (moment) return moment;
    throw new InvalidArgumentError('Write 30m, 24h, 7d, or a day of the calendar: 2026-03-01 or 2026-03-01T10:00.');
  };
}
