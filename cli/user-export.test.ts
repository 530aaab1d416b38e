import { expect, it } from 'vitest';
import { refuseTerminal } from './user-export-command.ts';

it.each<[Parameters<typeof refuseTerminal>[0], boolean]>([
  [{}, true],
  [{ secrets: true }, false],
  [{ secrets: true, yes: true }, true],
])('with %j, the output a terminal or not (%s), users are exported', (flags, isTerminal) => {
  expect(() => refuseTerminal(flags, isTerminal)).not.toThrow();
});

it('secrets are written to a terminal only with --yes', () => {
  expect(() => refuseTerminal({ secrets: true }, true)).toThrow(/not written to a terminal.*--yes/);
});
