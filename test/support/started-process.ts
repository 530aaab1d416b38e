import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';

type Exit = { code: number | null; signal: string | null };

/** A process that has started. */
export type StartedProcess = {
  child: ChildProcess;
  /** Its output so far. */
  output: () => string;
  /** How it ended. */
  exit: Promise<Exit>;
  /** Sends a signal, unless it has ended; resolves once it has. */
  end: (signal?: NodeJS.Signals) => Promise<Exit>;
};

/** Starts a program and waits until it is ready; throws with its output if it ends before, or in three minutes. */
export async function startProcess(
  program: string,
  args: readonly string[],
  isReady: (output: string) => boolean | Promise<boolean>,
  options: SpawnOptions = {},
): Promise<StartedProcess> {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const keep = (data: unknown) => {
    output += data;
  };
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', keep);
  child.once('error', keep);
  const hasEnded = () => child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
  const exit = new Promise<Exit>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  // It must not outlive a failed test.
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  exit.then(() => process.off('exit', kill));
  const end = (signal: NodeJS.Signals = 'SIGTERM') => {
    if (!hasEnded()) child.kill(signal);
    return exit;
  };
  const deadline = Date.now() + 180_000;
  while (!(await isReady(output))) {
    if (!hasEnded() && Date.now() < deadline) await pause(20);
    else {
      kill();
      throw new Error(`${program} ${args.join(' ')} does not start: ${output}`);
    }
  }
  return { child, output: () => output, exit, end };
}

/** Whether an address is answered, with success. */
export async function isAnswered(url: string): Promise<boolean> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(2000) }).catch(() => null);
  return answer?.ok ?? false;
}
