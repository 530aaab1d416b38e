// Brings faults about while two instances behind nginx on one PostgreSQL are under load, and prints for each how many
// requests were answered well, refused honestly (503 with Retry-After) or lost, and how soon all was well again. Linux,
// as root. Usage: npm run bench:faults [-- words of the names of faults, memory, or failover, instead of all].
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { measureFailover } from './faults/failover.ts';
import { faults } from './faults/fault-list.ts';
import { measureFault, measureMails, measureSessions } from './faults/measure-fault.ts';
import { measurePeople } from './faults/people.ts';
import { type Memory, underLoad } from './faults/under-load.ts';
import { report } from './figures.ts';

/** How long the load lasts that memory is compared with, in milliseconds. */
const withoutFaults = 60_000;

const { positionals: words } = parseArgs({ allowPositionals: true });
const isAsked = (what: string) => words.length === 0 || words.some((word) => what.includes(word));
const chosen = faults.filter(({ name }) => isAsked(name));
const isMemoryAsked = isAsked('memory');
const usual = isMemoryAsked ? await underLoad(() => pause(withoutFaults), { isMemoryAsked }) : null;
if (chosen.length > 0) {
  const memory = await underLoad(
    async (world, people) => {
      for (const fault of chosen) await measureFault(fault, world);
      await measurePeople(people, 'all that');
      await measureSessions(world.portals);
      await measureMails(world.mailServer, world.askedMails);
    },
    { isMemoryAsked },
  );
  if (usual && memory) compareMemory(memory, usual);
}
if (isAsked('failover')) await measureFailover();

/** What is kept after faults that is not kept after the same load without them is a leak. */
function compareMemory(after: Memory, usual: Memory): void {
  const compare = (what: string, one: number, other: number, most: number) => {
    const [ratio, sizes] = [one / other, [one, other].map((bytes) => `${Math.round(bytes / 1e6)} MB`).join(' to ')];
    const figure = `${ratio.toFixed(2)} of that after the same load without faults (${sizes})`;
    report(what, figure, `at most ${most.toFixed(2)}`, ratio <= most);
  };
  compare('memory of an instance afterwards, at rest', after.resident, usual.resident, 1.25);
  compare('objects that an instance refers to afterwards', after.heap, usual.heap, 1.1);
}
