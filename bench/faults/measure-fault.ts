import { setTimeout as pause } from 'node:timers/promises';
import { statusesOf, type TwoPortals } from '#testing/two-portals.ts';
import { report } from '../figures.ts';
import type { Fault, World } from './fault-list.ts';

/** In milliseconds, from the end of the fault to a good answer of every kind. */
const recovery = 5000;

/** Brings a fault about and ends it, under load, and reports what became of the requests and of what was acknowledged. */
export async function measureFault(fault: Fault, world: World): Promise<void> {
  const { portals } = world;
  const { load } = portals;
  load.begin();
  const end = await fault.begin(world);
  await pause(fault.lasts);
  await end();
  const took = await load.wellAgain();
  const { refused, lost } = load.unanswered();
  const well = Object.values(load.counts).reduce((sum, count) => sum + count.well, 0);
  const lostCount = Object.values(lost).reduce((sum, count) => sum + count, 0);
  const ways = Object.entries(lost).map(([how, count]) => `${count} ${how}`);
  const told = ways.length > 0 ? `${lostCount} lost (${ways.join(', ')})` : '0 lost';
  const isKept = await areKept(portals);
  report(
    fault.name,
    `${well} well, ${refused} refused, ${told}; well again after ${(took / 1000).toFixed(1)} s${isKept ? '' : '; SESSIONS CHANGED'}`,
    `at most ${fault.mayLose} lost, 5 s, no session changed`,
    lostCount <= fault.mayLose && took <= recovery && isKept,
  );
}

/** Whether all acknowledged sign-ins still are, and all acknowledged sign-outs. */
async function areKept(portals: TwoPortals): Promise<boolean> {
  const signedIn = await statusesOf(portals, new Set(portals.load.sessions));
  const ended = await statusesOf(portals, new Set(portals.load.ended));
  return [...signedIn].every((status) => status === 200) && [...ended].every((status) => status === 401);
}
