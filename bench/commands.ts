import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { median, report } from './figures.ts';
import { watchMemory } from './memory.ts';
import { root } from './servers.ts';

/** Times commands beside the running server on its data folder, alternating with a Node that does nothing. */
export async function measureCommands(dataFolder: string, { rounds }: { rounds: number }): Promise<void> {
  const times = { add: [] as number[], show: [] as number[], node: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    times.node.push(await timed(['--eval', '']));
    times.add.push(await timed(vestibule('customer', 'add', `bench-${round}`, '--name', 'Bench'), dataFolder));
    times.show.push(await timed(vestibule('user', 'show', 'user-0'), dataFolder));
  }
  for (const [command, figures] of [
    ['customer add', times.add],
    ['user show', times.show],
  ] as const) {
    const ms = median(figures);
    const told = `${Math.round(ms)} ms (Node that does nothing: ${Math.round(median(times.node))})`;
    report(`vestibule ${command}, beside a running server`, told, 'at most 500 ms', ms <= 500);
  }
}

function vestibule(...words: string[]): string[] {
  return ['cli/vestibule.ts', ...words];
}

/** How long a Node process takes from start to end, in ms; throws if it fails. */
async function timed(words: string[], dataFolder?: string): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, words, {
    cwd: root,
    env: { ...process.env, ...(dataFolder && { VESTIBULE_DATA: dataFolder }) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}`);
  return performance.now() - started;
}

const many = 100_000;
/** Enough for the process to have grown to its size. */
const few = 20_000;

/** Times the import of 100,000 users with bcrypt hashes into the running database of a data folder. */
export async function measureImports(dataFolder: string): Promise<void> {
  const small = await importOf(dataFolder, 'small', few);
  const { seconds, peak } = await importOf(dataFolder, 'large', many);
  report('user import, 100,000 users', `${seconds.toFixed(1)} s`, 'under 60 s', seconds < 60);
  const figure = `${Math.round(peak / 1e6)} MB (${few.toLocaleString('en')} users: ${Math.round(small.peak / 1e6)} MB)`;
  report('memory of this import', figure, 'at most 300 MB', peak <= 300e6);
}

async function importOf(dataFolder: string, name: string, users: number): Promise<{ seconds: number; peak: number }> {
  const path = join(dataFolder, `${name}.jsonl`);
  await writeUsers(path, name, users);
  const started = performance.now();
  const child = spawn(process.execPath, ['cli/vestibule.ts', 'user', 'import', path], {
    cwd: root,
    env: { ...process.env, VESTIBULE_DATA: dataFolder },
    stdio: 'ignore',
  });
  const memory = watchMemory(child.pid as number);
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`user import ended with ${code}`);
  const seconds = (performance.now() - started) / 1000;
  await rm(path);
  return { seconds, peak: memory.stop() };
}

async function writeUsers(path: string, name: string, users: number): Promise<void> {
  const out = createWriteStream(path);
  for (let n = 0; n < users; n += 1) {
    const username = `${name}-${n}`;
    // Never verified: any 53 letters of bcrypt's alphabet do.
    const passwordHash = `$2b$12$${randomBytes(39).toString('base64').replaceAll('+', '.')}O`;
    const line = { username, email: `${username}@acme.example`, customers: ['acme'], passwordHash };
    if (!out.write(`${JSON.stringify(line)}\n`)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'finish');
}
