import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { find, median, percentile } from './figures.ts';
import { postSignIn, userCount } from './people.ts';
import { program, type RunningServer, root, startPortal } from './servers.ts';

const rounds = 5;

/** Times how long a start takes until the first page is answered, without data and then with. */
export async function measureStarts(dataFolder: string): Promise<void> {
  const empty = await startPortal(dataFolder);
  await empty.stop();
  const existing: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const portal = await startPortal(dataFolder);
    await portal.stop();
    existing.push(portal.ms);
  }
  const node = median(await Promise.all([processTime(['--eval', '']), processTime(['--eval', ''])]));
  const floor = { is: 'an empty Node', figure: node };
  const told = { unit: 'ms', floor, better: 'less', isTold: true } as const;
  find({ what: 'start to first answer, with data', ours: median(existing), goal: { ours: 450 }, ...told });
  find({ what: 'start to first answer, empty folder', ours: empty.ms, goal: { ours: 1400 }, ...told, isTold: false });
}

/** Times a command beside the running server on its data folder, by turns with a Node that does nothing. */
export async function measureCommands(dataFolder: string): Promise<void> {
  const times = { show: [] as number[], node: [] as number[] };
  for (let round = 0; round <= rounds; round += 1) {
    times.node.push(await processTime(['--eval', '']));
    times.show.push(await processTime([...program, 'user', 'show', 'user-0'], dataFolder));
  }
  const floor = { is: 'an empty Node', figure: median(times.node) };
  const what = 'a command beside a server (user show)';
  find({ what, unit: 'ms', ours: median(times.show), floor, better: 'less', goal: { ours: 250 } });
}

/** How long a Node process takes from start to end, in ms; throws if it fails. */
async function processTime(words: string[], dataFolder?: string): Promise<number> {
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

/** Finds the memory of a server that has just started and answered its first page. */
export async function measureMemoryAtRest({ pid }: RunningServer): Promise<void> {
  const ours = (await residentMemory(pid)) / 1e6;
  find({ what: 'memory at rest', unit: 'MB', ours, better: 'less', goal: { ours: 110 } });
}

const signIns = 1000;

/** Many sign-ins at once: pages still load, memory stays bounded, and the surplus is refused properly. */
export async function measureFlood({ origin, pid }: RunningServer): Promise<void> {
  let peak = 0;
  const timer = setInterval(async () => {
    peak = Math.max(peak, await residentMemory(pid));
  }, 50);
  let isOver = false;
  const flood = Promise.all(
    Array.from({ length: signIns }, (_, index) => postSignIn(origin, `user-${index % userCount}`)),
  );
  const answered = flood.finally(() => {
    isOver = true;
  });
  const pageTimes: number[] = [];
  while (!isOver) {
    const started = performance.now();
    await (await fetch(`${origin}/portal/login`)).arrayBuffer();
    pageTimes.push(performance.now() - started);
  }
  const answers = await answered;
  clearInterval(timer);
  const done = answers.filter(({ status }) => status === 303).length;
  const told = answers.filter(({ status, headers }) => status === 503 && headers.has('retry-after')).length;
  const what = `${signIns} sign-ins at once`;
  find({
    what: `${what}: done, or told when to come back`,
    unit: '',
    ours: done + told,
    better: 'more',
    goal: { ours: signIns },
  });
  find({ what: `${what}: done`, unit: '', ours: done, better: 'more' });
  const p99 = percentile(pageTimes, 0.99);
  find({
    what: `${what}: sign-in page meanwhile, 99th percentile`,
    unit: 'ms',
    ours: p99,
    better: 'less',
    goal: { ours: 100 },
  });
  find({ what: 'memory under all this load', unit: 'MB', ours: peak / 1e6, better: 'less', goal: { ours: 300 } });
}

/** The resident memory of a process in bytes. */
export async function residentMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
}
