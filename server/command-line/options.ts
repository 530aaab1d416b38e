import { Option } from 'commander';

export type OnOff = 'on' | 'off';

export const onOff = (flags: string, description: string) =>
  new Option(`${flags} [on|off]`, description).choices(['on', 'off']).preset('on');

export const repeatable = (flags: string, description: string) =>
  new Option(flags, description).argParser(collect) as Option;

/** False stands for an earlier `--no-…`, which the option overrides. */
function collect(value: string, before: string[] | false | undefined): string[] {
  return [...new Set([...(before || []), value])];
}
