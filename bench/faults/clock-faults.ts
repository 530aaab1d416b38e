import { askForReset } from './asked-mails.ts';
import type { Fault } from './fault.ts';
import { roll } from './roll.ts';

/** Runs first in an instance: SIGUSR2 steps its clock by so many milliseconds, or back again. */
const steppedClock = (step: number) => `
  const Real = Date;
  let offset = 0;
  globalThis.Date = class extends Real {
    constructor(...given) {
      given.length > 0 ? super(...given) : super(Real.now() + offset);
    }
    static now() {
      return Real.now() + offset;
    }
  };
  process.on('SIGUSR2', () => (offset = offset === 0 ? ${step} : 0));`;

const clock = (how: string, step: number): Fault => ({
  name: `the clock of one instance stepped ${how}`,
  lasts: 5000,
  // An app whose clock is right shows codes that are wrong there.
  mayLose: 15,
  begin: async ({ portals }) => {
    await roll(portals, 1, steppedClock(step));
    portals.instances[1]?.child.kill('SIGUSR2');
    return () => portals.instances[1]?.child.kill('SIGUSR2');
  },
});

const day = 24 * 60 * 60_000;

/** Somebody asks for a reset meanwhile, which the other instance has to answer. */
const wrongDay = (how: string, step: number, username: string): Fault => {
  const { begin, ...fault } = clock(how, step);
  return {
    ...fault,
    // By that instance everybody's session has ended, or has not begun.
    mayLose: Infinity,
    endsLaterSessions: true,
    begin: async (world) => {
      const end = await begin(world);
      await askForReset(world.portals, username, world.askedMails);
      return end;
    },
  };
};

export const clockFaults: readonly Fault[] = [
  clock('5 minutes ahead', 5 * 60_000),
  clock('5 minutes back', -5 * 60_000),
  wrongDay('a day ahead', day, 'user-3'),
  wrongDay('a day back', -day, 'user-4'),
];
