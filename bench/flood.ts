import { percentile, report } from './figures.ts';
import { residentMemory, watchMemory } from './memory.ts';
import type { RunningServer } from './servers.ts';
import { postSignIn, userCount } from './sign-in-form.ts';

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
