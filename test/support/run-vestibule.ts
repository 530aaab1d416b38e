import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runProgram } from '#cli/program.ts';
import { freePort } from './free-port.ts';
import { type StartedProcess, startProcess } from './started-process.ts';

export type CommandResult = { code: number; out: string; err: string };
type Surroundings = { env: Record<string, string>; input?: string | Buffer };

const root = join(import.meta.dirname, '../..');
const entry = join(root, 'cli/vestibule.ts');
/** Not the time zone that the product writes times in. */
const always = { PATH: '/usr/bin:/bin', TZ: 'Europe/Berlin' };

/**
 * Runs the real command line as a process, with only the given environment. Its standard input stays open if `input` is
 * null.
 */
export async function runVestibuleProcess(
  args: readonly string[],
  { env, input = '' }: Omit<Surroundings, 'input'> & { input?: Surroundings['input'] | null },
): Promise<CommandResult> {
  const child = spawn(process.execPath, [entry, ...args], { env: { ...always, ...env } });
  child.stdin.on('error', () => undefined);
  if (input !== null) child.stdin.end(input);
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: code as number, out, err };
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command inside this process, but isolated: a new process spends most of its time loading code. One command at
 * a time, since it borrows the process's globals; behaviour that needs a real process (signals, closed pipes, two at
 * once, what Node reads at its start) uses `runVestibuleProcess`.
 */
export async function runVestibule(args: readonly string[], surroundings: Surroundings): Promise<CommandResult> {
  const run = last.then(() => runHere(args, surroundings));
  last = run.catch(() => undefined);
  return await run;
}

async function runHere(args: readonly string[], { env, input = '' }: Surroundings): Promise<CommandResult> {
  const own = { env: process.env, argv: process.argv, exitCode: process.exitCode };
  const { stdin, stdout, stderr } = process;
  const zone = own.env.TZ;
  const written = { out: '', err: '' };
  const lent = {
    stdin: Readable.from([Buffer.from(input)]),
    stdout: collector((part) => {
      written.out += part;
    }),
    stderr: collector((part) => {
      written.err += part;
    }),
  };
  // Node rereads the time zone only if it was set in the process's initial environment.
  own.env.TZ = always.TZ;
  process.env = { ...always, ...env };
  process.argv = [process.execPath, entry, ...args];
  process.exitCode = 0;
  for (const [name, value] of Object.entries(lent)) Object.defineProperty(process, name, { value, configurable: true });
  try {
    await runProgram();
    return { code: Number(process.exitCode), ...written };
  } finally {
    for (const [name, value] of Object.entries({ stdin, stdout, stderr }))
      Object.defineProperty(process, name, { value, configurable: true });
    process.env = own.env;
    process.argv = own.argv;
    process.exitCode = own.exitCode;
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
}

/** What a command writes to, as far as commands use it. */
function collector(add: (part: string) => void) {
  return { on() {}, write: add };
}

/** The product as an operator starts it, in a separate process. */
export type PortalProcess = StartedProcess & { origin: string };

/** What keys are made of, in each of these processes. */
export const portalSecret = 'x'.repeat(43);

/** Starts a portal on a database; `preload` is a module's source that runs in it first, `env` what it is told besides. */
export async function portalProcess(
  databaseUrl: string,
  { preload = '', env: more = {} }: { preload?: string; env?: Record<string, string> } = {},
): Promise<PortalProcess> {
  const PORT = more.PORT ?? String(await freePort());
  const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl, VESTIBULE_SECRET: portalSecret, ...more, PORT };
  const imported = `data:text/javascript,${encodeURIComponent(preload)}`;
  const started = await startProcess(
    process.execPath,
    ['--import', imported, entry, 'serve'],
    (output) => output.includes('Vestibule is ready at'),
    { cwd: root, env },
  );
  return { ...started, origin: `http://localhost:${PORT}` };
}
