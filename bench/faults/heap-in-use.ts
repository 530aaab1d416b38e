import { setTimeout as pause } from 'node:timers/promises';
import type { PortalProcess } from '#test/support/run-vestibule.ts';

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
