import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { buildProgram } from './program.ts';

/** The commands that do something, by their full names. */
function commandsOf(command: Command, name = ''): [string, Command][] {
  if (command.commands.length === 0) return [[name, command]];
  return command.commands.flatMap((below) => commandsOf(below, `${name} ${below.name()}`.trim()));
}

it('every command takes --json (decisions §11)', () => {
  const commands = commandsOf(buildProgram());
  expect(commands.length).toBeGreaterThan(39);
  const without = commands.filter(([, { options }]) => !options.some(({ long }) => long === '--json'));
  expect(without.map(([name]) => name)).toEqual([]);
});
