import { setTimeout as pause } from 'node:timers/promises';
import { mailServerForTest } from '#test/support/mail-for-test.ts';
import type { PortalProcess } from '#test/support/run-vestibule.ts';
import { twoPortals } from '#test/support/two-portals.ts';
import { residentMemory } from '../instance.ts';
import { type People, peopleWhoChange } from './people.ts';
import { startProvider, visitorsOf } from './visitors.ts';
import type { World } from './world.ts';
import { fullDisk } from './world.ts';

/** Of an instance, on average, in bytes: what it holds, and the objects that it refers to. */
export type Memory = { resident: number; heap: number };

/** Room for the database and its log, in megabytes. */
const diskSize = 1000;
/** After a load, in milliseconds: V8 gives memory back when there has been little to do for a minute. */
const rest = 90_000;
/** As `npm start` has it. */
const nodeOptions = '--max-semi-space-size=2';

/** So many that the load's sign-ins give nobody more sessions than they may keep. */
const users = 100;

/** Does something while two instances are under load; what they hold at rest is measured afterwards if asked for. */
export async function underLoad(
  work: (world: World, people: People) => Promise<void>,
  { isMemoryAsked }: { isMemoryAsked: boolean },
): Promise<Memory | null> {
  const disk = fullDisk(diskSize);
  const mailServer = await mailServerForTest({ tls: 'off' });
  try {
    const env = { SMTP_URL: mailServer.url, NODE_OPTIONS: nodeOptions };
    const portals = await twoPortals({ where: disk.folder, env, users, preload: tellsHeap });
    try {
      const provider = await startProvider(portals);
      const [people, visitors] = [await peopleWhoChange(portals), visitorsOf(portals, provider)];
      await work({ portals, disk, mailServer, askedMails: [], provider, crowds: [people, visitors] }, people);
      await Promise.all([people, visitors, portals.load].map((one) => one.stop()));
      await provider.close();
      if (!isMemoryAsked) return null;
      await pause(rest);
      const residents = await Promise.all(portals.instances.map(({ child }) => residentMemory(child.pid as number)));
      return { resident: meanOf(residents), heap: meanOf(await Promise.all(portals.instances.map(heapInUse))) };
    } finally {
      await portals.close();
    }
  } finally {
    await mailServer.close();
    disk.close();
  }
}

const meanOf = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

/**
 * Runs first in an instance: SIGWINCH has it collect garbage and print the bytes of the objects that are left. Several
 * times, since V8 gives up compiled code, some megabytes, only when it was not run between so many collections.
 */
const tellsHeap = `
  import { setFlagsFromString } from 'node:v8';
  import { runInNewContext } from 'node:vm';
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  process.on('SIGWINCH', () => {
    for (let time = 0; time < 8; time += 1) collect();
    console.log('heap ' + process.memoryUsage().heapUsed + ';');
  });`;

/** The bytes of all objects that an instance refers to, which `tellsHeap` ran in first. */
async function heapInUse({ child, output }: PortalProcess): Promise<number> {
  const told = () => [...output().matchAll(/^heap (\d+);$/gm)].map(([, bytes]) => Number(bytes));
  const { length } = told();
  child.kill('SIGWINCH');
  while (told().length === length) await pause(20);
  return told().at(-1) as number;
}
