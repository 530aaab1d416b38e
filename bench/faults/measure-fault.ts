import { setTimeout as pause } from 'node:timers/promises';
import { median, report } from '../figures.ts';
import { areKept } from './acknowledged.ts';
import type { Counts, Fault, UnderLoad } from './world.ts';

/** In milliseconds, from the end of the fault to a good answer of every kind. */
const recovery = 5000;

/** How long sign-ins are timed before a fault that may not slow them down, in milliseconds, and how much slower they may be. */
const usual = 5000;
const slower = 1.5;

/** Brings a fault about and ends it, under load, and reports what became of the requests and of what was acknowledged. */
export async function measureFault<W extends UnderLoad>(fault: Fault<W>, world: W): Promise<void> {
  const { portals, crowds } = world;
  const { load } = portals;
  const signIns = () => median(load.counts.signIns.times);
  if (fault.sparesPasswords) {
    load.begin();
    await pause(usual);
  }
  const before = signIns();
  load.begin();
  for (const crowd of crowds) crowd.begin();
  const end = await fault.begin(world);
  await pause(fault.lasts);
  const meanwhile = signIns();
  await end();
  const from = performance.now();
  await Promise.all([load, ...crowds].map((one) => one.wellAgain()));
  const took = performance.now() - from;
  const { lost, refused, well } = sumOf(world);
  const lostCount = Object.values(lost).reduce((sum, count) => sum + count, 0);
  const ways = Object.entries(lost).map(([how, count]) => `${count} ${how}`);
  const told = ways.length > 0 ? `${lostCount} lost (${ways.join(', ')})` : '0 lost';
  const isKept = await areKept(portals);
  report(
    fault.name,
    `${refused} of ${well} refused, ${told}, ${(took / 1000).toFixed(1)} s${isKept ? '' : '; SESSIONS CHANGED'}`,
    `at most ${fault.mayLose} lost, ${recovery / 1000} s, no session changed`,
    lostCount <= fault.mayLose && took <= recovery && isKept,
  );
  if (!fault.sparesPasswords) return;
  const ratio = meanwhile / before;
  const times = `${meanwhile.toFixed(1)} to ${before.toFixed(1)} ms`;
  const goal = `at most ${slower.toFixed(2)}`;
  report(
    'sign-ins by password meanwhile',
    `${ratio.toFixed(2)} of their time before (${times})`,
    goal,
    ratio <= slower,
  );
}

function sumOf({ portals: { load }, crowds }: UnderLoad): Counts {
  const sums = { well: Object.values(load.counts).reduce((sum, { well }) => sum + well, 0), ...load.unanswered() };
  for (const { counts } of crowds) {
    const { well, refused, lost } = counts();
    sums.well += well;
    sums.refused += refused;
    Object.assign(sums.lost, lost);
  }
  return sums;
}
