import { setTimeout as pause } from 'node:timers/promises';
import type { ConstantLoad } from '#testing/constant-load.ts';
import { statusesOf, type TwoPortals } from '#testing/two-portals.ts';
import { report } from '../figures.ts';
import { residentMemory } from '../memory.ts';
import type { Fault } from './fault-list.ts';
import type { People } from './people.ts';

type UnderLoad = { portals: TwoPortals; people: People };

/** In milliseconds, from the end of the fault to a good answer of every kind. */
const recovery = 5000;

/** Brings a fault about and ends it, under load, and reports what became of the requests and of what was acknowledged. */
export async function measureFault<W extends UnderLoad>(fault: Fault<W>, world: W): Promise<void> {
  const { portals, people } = world;
  const { load } = portals;
  load.begin();
  people.begin();
  const end = await fault.begin(world);
  await pause(fault.lasts);
  await end();
  const took = await load.wellAgain();
  const { lost, refused, well } = sumOf(load, people);
  const lostCount = Object.values(lost).reduce((sum, count) => sum + count, 0);
  const ways = Object.entries(lost).map(([how, count]) => `${count} ${how}`);
  const told = ways.length > 0 ? `${lostCount} lost (${ways.join(', ')})` : '0 lost';
  const isKept = await areKept(portals);
  report(
    fault.name,
    `${well} well, ${refused} refused, ${told}; well again after ${(took / 1000).toFixed(1)} s, ${await memoryOf(portals)}${isKept ? '' : '; SESSIONS CHANGED'}`,
    `at most ${fault.mayLose} lost, 5 s, no session changed`,
    lostCount <= fault.mayLose && took <= recovery && isKept,
  );
}

/** Of each instance, in megabytes. */
async function memoryOf({ instances }: TwoPortals): Promise<string> {
  const bytes = await Promise.all(instances.map(({ child }) => residentMemory(child.pid as number)));
  return `${bytes.map((count) => Math.round(count / 1e6)).join(' and ')} MB`;
}

function sumOf(load: ConstantLoad, people: People) {
  const [others, changes] = [load.unanswered(), people.counts()];
  const well = Object.values(load.counts).reduce((sum, count) => sum + count.well, changes.well);
  return { well, refused: others.refused + changes.refused, lost: { ...others.lost, ...changes.lost } };
}

/** Whether all acknowledged sign-ins still are, and all acknowledged sign-outs. */
async function areKept(portals: TwoPortals): Promise<boolean> {
  const signedIn = await statusesOf(portals, new Set(portals.load.sessions));
  const ended = await statusesOf(portals, new Set(portals.load.ended));
  return [...signedIn].every((status) => status === 200) && [...ended].every((status) => status === 401);
}
