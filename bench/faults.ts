// Brings faults about while two instances behind nginx on one PostgreSQL are under load, and prints for each how many
// requests were answered well, refused honestly (503 with Retry-After) or lost, and how soon all was well again. Linux,
// as root. Usage: npm run bench:faults [-- words of the names of faults, or failover, instead of all] [--readme], the
// last to write the README's table.
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { mailServerForTest } from '#testing/mail-server-for-test.ts';
import { twoPortals } from '#testing/two-portals.ts';
import { measureMails } from './faults/asked-mails.ts';
import { measureFailover } from './faults/failover.ts';
import { type Fault, faults } from './faults/fault-list.ts';
import { fullDisk } from './faults/full-disk.ts';
import { measureFault } from './faults/measure-fault.ts';
import { measurePeople, peopleWhoChange } from './faults/people.ts';
import { reported } from './figures.ts';
import { reportMemory, residentMemory } from './memory.ts';
import { writeReadmeTable } from './readme-table.ts';

/** Room for the database and its log, in megabytes. */
const diskSize = 1000;
/** After a load, in milliseconds: Node gives memory back when there is little to do. */
const rest = 30_000;

const { positionals: words, values } = parseArgs({
  allowPositionals: true,
  options: { readme: { type: 'boolean', default: false } },
});
const chosen = faults.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
if (chosen.length > 0) await measureFaults(chosen);
if (words.length === 0 || words.includes('failover')) await measureFailover();
if (values.readme) await writeReadmeTable('bench:faults', reported(), new Date());

async function measureFaults(chosen: readonly Fault[]): Promise<void> {
  const disk = fullDisk(diskSize);
  const mailServer = await mailServerForTest({ tls: 'off' });
  try {
    const portals = await twoPortals({ where: disk.folder, env: { SMTP_URL: mailServer.url } });
    try {
      const people = await peopleWhoChange(portals);
      for (const fault of chosen) await measureFault(fault, { portals, disk, mailServer, people });
      await measurePeople(people, 'all that');
      await measureMails(mailServer);
      await portals.load.stop();
      await pause(rest);
      for (const { child } of portals.instances)
        reportMemory('memory of an instance afterwards, at rest', await residentMemory(child.pid as number), 250);
    } finally {
      await portals.close();
    }
  } finally {
    await mailServer.close();
    disk.close();
  }
}
