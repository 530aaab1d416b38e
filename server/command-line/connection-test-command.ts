import type { Command } from 'commander';

export function addConnectionTestCommand(_connection: Command): void {}
