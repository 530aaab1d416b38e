import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Reading } from '#server/names/read-name.ts';
import { readTime } from '#server/names/read-time.ts';
import { failure } from './print.ts';

export type JsonFlag = { json?: true };

export const nameArgument = ['<name>', 'username or email'] as const;

/** The parsed value. Throws a failure with the problem if there is none. */
export function accepted<T>(reading: Reading<T>): T {
  if (reading.kind === 'ok') return reading.value;
  throw failure(`${reading.problem}.`);
}

/** An option whose value is read at once; the failure names the option. */
export function optionOf<T>(flags: string, description: string, read: (text: string) => Reading<T>): Option {
  const option = new Option(flags, description);
  return option.argParser((text) => readBy(option, read(text)));
}

/** The same with a list of different values; false stands for an earlier `--no-…`, which the option overrides. */
export function repeatable<T = string>(
  flags: string,
  description: string,
  read: (text: string) => Reading<T | string> = (value) => ({ kind: 'ok', value }),
): Option {
  const option = new Option(flags, description);
  return option.argParser<unknown[] | false>((text, before) => [
    ...new Set([...(before || []), readBy(option, read(text))]),
  ]);
}

/** Readers that name a field say it of the option. */
function readBy<T>({ long }: Option, reading: Reading<T>): T {
  if (reading.kind === 'ok') return reading.value;
  throw failure(`${long}: ${reading.problem.replace(/^[a-z]+: /, '')}.`);
}

/** An option that is on, also without a value, or off. */
export function onOff(flags: string, description: string): Option {
  return new Option(`${flags} [on|off]`, description).preset('on').argParser((text) => {
    if (text === 'on' || text === 'off') return text === 'on';
    throw new InvalidArgumentError('Allowed choices are on, off.');
  });
}

/** Two options that exclude each other, for the flag `isActive`. */
export function activeOptions(on: [flags: string, description: string], off: [string, string]): Option[] {
  const [yes, no] = [new Option(...on).implies({ isActive: true }), new Option(...off).implies({ isActive: false })];
  return [yes, no.conflicts(yes.attributeName())];
}

/** A command with options, under a heading of its help if one is given. */
export function withOptions(command: Command, options: readonly Option[], heading = 'Options:'): Command {
  for (const option of options) command.addOption(option.helpGroup(heading));
  return command;
}

/** The members that are given. */
export function given<T extends object>(values: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as ReturnType<
    typeof given<T>
  >;
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
