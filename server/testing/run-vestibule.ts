import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

export type CommandResult = { code: number; out: string; err: string };

const entry = join(import.meta.dirname, '../command-line/vestibule.ts');

/**
 * Runs the real command line as a process, with nothing of our environment but what is given. Its standard input stays
 * open where `input` is null.
 */
export async function runVestibule(
  args: readonly string[],
  { env, input = '' }: { env: Record<string, string>; input?: string | Buffer | null },
): Promise<CommandResult> {
  const child = spawn(process.execPath, [entry, ...args], {
    env: { PATH: '/usr/bin:/bin', TZ: 'Europe/Berlin', ...env },
  });
  child.stdin.on('error', () => undefined);
  if (input !== null) child.stdin.end(input);
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: code as number, out, err };
}
