import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Place } from '#server/database/database.ts';
import { freePort } from '#test/support/free-port.ts';

export type RunningServer = { origin: string; pid: number; stop: () => Promise<void> };

export const root = fileURLToPath(new URL('../', import.meta.url));

/** The product as an operator runs it: what Node is given before the words of a command. */
export const program = ['--max-semi-space-size=2', 'dist/server/vestibule.js'];

/** How long a start may take, in milliseconds. */
const patience = 60_000;

/** Starts the portal on a data folder as an operator would; `ms` is the time to its first answered page. */
export async function startPortal(
  dataFolder: string,
  more: Record<string, string> = {},
): Promise<RunningServer & { ms: number }> {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const started = performance.now();
  const child = spawn(process.execPath, [...program, 'serve'], {
    cwd: root,
    env: { ...process.env, PORT: String(port), VESTIBULE_DATA: dataFolder, LOG_LEVEL: 'info', ...more },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  for (;;) {
    // One that trusts a proxy refuses whoever comes without it, with 400.
    const answered = await fetch(`${origin}/portal/login`).then(
      ({ status }) => status < 500,
      () => false,
    );
    if (answered) break;
    if (child.exitCode !== null || performance.now() - started > patience) throw new Error('the portal did not start');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return { origin, pid: child.pid as number, ms: performance.now() - started, stop: stopper(child) };
}

/**
 * Starts a script that prints the port it listens on; it finds the database in the environment, as PostgreSQL's own clients
 * do.
 */
export async function startScript(words: readonly string[], place?: Place): Promise<RunningServer> {
  const child = spawn(process.execPath, words, {
    cwd: root,
    env: {
      ...process.env,
      NODE_ENV: 'production',
      // As many hashing threads as cores, as in the portal.
      UV_THREADPOOL_SIZE: String(Math.max(2, availableParallelism())),
      ...(place && environmentOf(place)),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit').then(() => Promise.reject(new Error(`${words.join(' ')} did not start`)));
  const [line] = (await Promise.race([once(child.stdout, 'data'), ended])) as [Buffer];
  ended.catch(() => {});
  const { port } = JSON.parse(line.toString()) as { port: number };
  return { origin: `http://localhost:${port}`, pid: child.pid as number, stop: stopper(child) };
}

/** Of the embedded PostgreSQL, whose socket is named as libpq names it. */
function environmentOf(place: Place): Record<string, string> {
  if ('url' in place) throw new Error('the bench has a PostgreSQL of its own');
  const [, port = ''] = /\.(\d+)$/.exec(basename(place.path)) ?? [];
  const { database: PGDATABASE, user: PGUSER, password: PGPASSWORD } = place;
  return { PGHOST: dirname(place.path), PGPORT: port, PGDATABASE, PGUSER, PGPASSWORD };
}

function stopper(child: ChildProcess): () => Promise<void> {
  return async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  };
}
