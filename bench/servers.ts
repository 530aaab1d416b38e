import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { freePort } from '#test/support/free-port.ts';
import packageFile from '../package.json' with { type: 'json' };

export type RunningServer = { origin: string; pid: number; stop: () => Promise<void> };

export const root = fileURLToPath(new URL('../', import.meta.url));
/** What `npm start` gives to Node. */
const startWords = packageFile.scripts.start.replace('exec node ', '').split(' ');

/** Starts the portal on a data folder as an operator would; `ms` is the time to its first answered page. */
export async function startPortal(
  dataFolder: string,
  more: Record<string, string> = {},
): Promise<RunningServer & { ms: number }> {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const started = performance.now();
  const child = spawn(process.execPath, startWords, {
    cwd: root,
    env: { ...process.env, PORT: String(port), VESTIBULE_DATA: dataFolder, LOG_LEVEL: 'info', ...more },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  for (;;) {
    const answered = await fetch(`${origin}/portal/login`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (answered) break;
    if (child.exitCode !== null) throw new Error('the portal did not start');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return { origin, pid: child.pid as number, ms: performance.now() - started, stop: stopper(child) };
}

/** Starts the bare server on a database place; it takes its page from the portal. */
export async function startBareServer(place: unknown, password: string, portal: string): Promise<RunningServer> {
  return await startScript('bench/baselines.ts', 'server', JSON.stringify(place), password, portal);
}

/** Starts a script that prints the port it listens on. */
export async function startScript(...words: string[]): Promise<RunningServer> {
  const child = spawn(process.execPath, words, {
    cwd: root,
    // As many hashing threads as cores, as in the portal.
    env: { ...process.env, UV_THREADPOOL_SIZE: String(availableParallelism()) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { port } = JSON.parse(line.toString()) as { port: number };
  return { origin: `http://localhost:${port}`, pid: child.pid as number, stop: stopper(child) };
}

function stopper(child: ChildProcess): () => Promise<void> {
  return async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  };
}
