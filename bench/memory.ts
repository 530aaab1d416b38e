import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { PortalProcess } from '#test/support/run-vestibule.ts';
import { percentile, report } from './figures.ts';
import type { RunningServer } from './servers.ts';
import { postSignIn, userCount } from './sign-in-form.ts';

/** Notes the highest resident memory of a process until it is stopped, which returns it in bytes. */
export function watchMemory(pid: number): { stop: () => number } {
  let peak = 0;
  const look = async () => {
    peak = Math.max(peak, await residentMemory(pid));
  };
  const timer = setInterval(look, 50);
  return {
    stop() {
      clearInterval(timer);
      return peak;
    },
  };
}

/** Reports the memory of a server that has just started and answered its first page. */
export async function measureMemoryAtRest(pid: number): Promise<void> {
  reportMemory('memory at rest', await residentMemory(pid), 120);
}

/** Reports memory in bytes against the most that it should be, in MB (10^6 bytes). */
export function reportMemory(what: string, bytes: number, most: number): void {
  const size = bytes / 1e6;
  report(what, `${Math.round(size)} MB`, `at most ${most} MB`, size <= most);
}

/** The resident memory of a process in bytes. */
export async function residentMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
}

/**
 * Runs first in an instance: SIGWINCH has it collect garbage and print the bytes of the objects that are left. Several
 * times, since V8 gives up compiled code, some megabytes, only when it was not run between so many collections.
 */
export const tellsHeap = `
  import { setFlagsFromString } from 'node:v8';
  import { runInNewContext } from 'node:vm';
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  process.on('SIGWINCH', () => {
    for (let time = 0; time < 8; time += 1) collect();
    console.log('heap ' + process.memoryUsage().heapUsed + ';');
  });`;

/** The bytes of all objects that an instance refers to, which `tellsHeap` ran in first. */
export async function heapInUse({ child, output }: PortalProcess): Promise<number> {
  const told = () => [...output().matchAll(/^heap (\d+);$/gm)].map(([, bytes]) => Number(bytes));
  const { length } = told();
  child.kill('SIGWINCH');
  while (told().length === length) await pause(20);
  return told().at(-1) as number;
}

const signIns = 1000;

/** Many sign-ins at once: pages still load, memory stays bounded, and the surplus is refused properly. */
export async function measureFlood({ origin, pid }: RunningServer): Promise<void> {
  const before = await residentMemory(pid);
  const memory = watchMemory(pid);
  let over = false;
  const flood = Promise.all(
    Array.from({ length: signIns }, (_, index) => postSignIn(origin, `user-${index % userCount}`)),
  );
  const answered = flood.finally(() => {
    over = true;
  });
  const pageTimes: number[] = [];
  while (!over) {
    const started = performance.now();
    await (await fetch(`${origin}/portal/login`)).arrayBuffer();
    pageTimes.push(performance.now() - started);
  }
  const answers = await answered;
  const count = (status: number) => answers.filter((answer) => answer.status === status).length;
  const busy = answers.filter((answer) => answer.status === 503);
  const told = busy.every((answer) => answer.headers.has('retry-after')) ? 'with' : 'WITHOUT';
  report(
    `${signIns} sign-ins at once`,
    `${count(303)} done, ${busy.length} answered 503 ${told} Retry-After`,
    'every one answered',
    told === 'with' && count(303) + busy.length === signIns,
  );
  const p99 = percentile(pageTimes, 0.99);
  report(
    'p99 of /portal/login meanwhile',
    `${Math.round(p99)} ms of ${pageTimes.length} requests`,
    'under 100 ms',
    p99 < 100,
  );
  const grown = (memory.stop() - before) / 1e6;
  report('memory growth meanwhile', `${Math.round(grown)} MB`, 'under 300 MB', grown < 300);
}
