import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-port.ts';

/** The product as an operator starts it, in a separate process. */
export type PortalProcess = {
  origin: string;
  child: ChildProcess;
  /** Its output so far. */
  output: () => string;
  /** How it ended. */
  exit: Promise<{ code: number | null; signal: string | null }>;
};

/** What keys are made of, in each of these processes. */
export const portalSecret = 'x'.repeat(43);

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Starts a portal on a database; `preload` is a module's source that runs in it first, `env` what it is told besides.
 * Throws if it ends early.
 */
export async function portalProcess(
  databaseUrl: string,
  { preload = '', env = {} }: { preload?: string; env?: Record<string, string> } = {},
): Promise<PortalProcess> {
  const port = env.PORT ?? String(await freePort());
  const child = spawn(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(preload)}`, 'cli/vestibule.ts', 'serve'],
    {
      cwd: root,
      env: {
        PATH: process.env.PATH,
        PORT: port,
        DATABASE_URL: databaseUrl,
        VESTIBULE_SECRET: portalSecret,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk;
    });
  }
  const exit = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  const listens = new Promise<void>((resolve) =>
    child.stdout?.on('data', () => output.includes('Vestibule is listening at') && resolve()),
  );
  await Promise.race([
    listens,
    exit.then(() => {
      throw new Error(`the portal did not start: ${output}`);
    }),
  ]);
  return { origin: `http://localhost:${port}`, child, output: () => output, exit };
}
