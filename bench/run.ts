// Measures the figures of docs/performance.md. Speed is a ratio against a baseline run alternately in the same run, since
// machines differ and are noisy. Usage: npm run bench [-- --seconds 6 --rounds 5 --write], the last to write its table.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { connect } from '#server/database/connect.ts';
import { openEmbedded } from '#server/database/embedded/embedded.ts';
import { measureCommands, measureImports } from './commands.ts';
import { median, report, reported, writeTable } from './figures.ts';
import { measureForgedAnswers } from './forged-answers.ts';
import { compareMails } from './mails.ts';
import { measureFlood, measureMemoryAtRest, reportMemory, watchMemory } from './memory.ts';
import { comparePages, measureSizes } from './pages.ts';
import { compareGate, comparePageRates, compareSessionChecks, compareSignIns } from './rates.ts';
import { measurePasskeys, measureVerify } from './second-factor.ts';
import { startBareServer, startPortal } from './servers.ts';
import { addUsers, password } from './sign-in-form.ts';
import { measureForgotten, measureTimings } from './timings.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '6' },
    rounds: { type: 'string', default: '5' },
    write: { type: 'boolean', default: false },
  },
});
const load = { seconds: Number(values.seconds), rounds: Number(values.rounds) };

const dataFolder = await mkdtemp(join(tmpdir(), 'vestibule-bench-'));
try {
  await measureStarts();
  const database = await openEmbedded({ dataFolder, log: { info() {}, warn: console.warn } });
  const sql = connect(database.place);
  await addUsers(sql);
  const portal = await startPortal(dataFolder);
  await measureMemoryAtRest(portal.pid);
  const bare = await startBareServer(database.place, password, portal.origin);
  await measureCommands(dataFolder, load);
  await measureSizes(portal);
  await comparePages(portal, load);
  const memory = watchMemory(portal.pid);
  await comparePageRates(portal, bare, load);
  await compareSignIns(portal, bare, load);
  await compareSessionChecks(portal, bare, sql, load);
  await measureFlood(portal);
  reportMemory('memory under all this load', memory.stop(), 250);
  await measureTimings(portal, sql);
  await measureForgotten(portal, sql);
  await measureForgedAnswers(portal, sql);
  await measureVerify(portal, bare, sql, dataFolder);
  await measurePasskeys(portal, bare, sql);
  await Promise.all([portal.stop(), bare.stop()]);
  await compareGate(dataFolder, sql, load);
  await compareMails(dataFolder, sql);
  await measureImports(dataFolder);
  await sql.end();
  await database.close();
  if (values.write) await writeTable(reported(), new Date());
} finally {
  await rm(dataFolder, { recursive: true, force: true });
}

async function measureStarts(): Promise<void> {
  const empty = await startPortal(dataFolder);
  await empty.stop();
  const existing: number[] = [];
  for (let round = 0; round < load.rounds; round += 1) {
    const portal = await startPortal(dataFolder);
    await portal.stop();
    existing.push(portal.ms);
  }
  const again = median(existing);
  report('start to first answer, empty data folder', `${Math.round(empty.ms)} ms`, 'under 1,500 ms', empty.ms < 1500);
  report('start to first answer, existing data folder', `${Math.round(again)} ms`, 'under 400 ms', again < 400);
}
