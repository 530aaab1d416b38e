// Brings faults about while two instances behind nginx on one PostgreSQL are under load, and prints for each how many
// requests were answered well, refused honestly (503 with Retry-After) or lost, and how soon all was well again. Linux,
// as root. Usage: npm run bench:faults [-- words of the names of faults, instead of all]
import { mailServerForTest } from '#testing/mail-server-for-test.ts';
import { twoPortals } from '#testing/two-portals.ts';
import { measureMails } from './faults/asked-mails.ts';
import { faults } from './faults/fault-list.ts';
import { fullDisk } from './faults/full-disk.ts';
import { measureFault } from './faults/measure-fault.ts';
import { reportMemory, residentMemory } from './memory.ts';

const words = process.argv.slice(2);
const chosen = faults.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
/** Room for the database and its log, in megabytes. */
const diskSize = 1000;

const disk = fullDisk(diskSize);
const mailServer = await mailServerForTest({ tls: 'off' });
try {
  const env = { SMTP_URL: mailServer.url };
  const portals = await twoPortals({ where: disk.folder, env });
  try {
    for (const fault of chosen) await measureFault(fault, { portals, disk, mailServer });
    await measureMails(mailServer);
    await portals.load.stop();
    for (const { child } of portals.instances)
      reportMemory('memory of an instance afterwards', await residentMemory(child.pid as number), 250);
  } finally {
    await portals.close();
  }
} finally {
  await mailServer.close();
  disk.close();
}
