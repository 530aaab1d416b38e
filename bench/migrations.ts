// Measures how long people wait for a sign-in while a large installation is migrated from the first version that had sessions,
// and so from every later one. Usage: npm run bench:migrations [-- --share 0.01 --readme]; the share is that of a million users
// and sessions and ten million events.
import { copyFile, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openEmbedded } from '#server/embedded/embedded.ts';
import { connect } from '#server/storage/connect.ts';
import type { Place } from '#server/storage/database.ts';
import { migrate } from '#server/storage/migrate.ts';
import { report, reported } from './figures.ts';
import { writeReadmeTable } from './readme-table.ts';
import { fill } from './scale/fill.ts';
import { longestSignIn } from './scale/longest-sign-in.ts';

const { values } = parseArgs({
  options: { share: { type: 'string', default: '1' }, readme: { type: 'boolean', default: false } },
});
const share = Number(values.share);
const size = { users: 1_000_000 * share, sessions: 1_000_000 * share, events: 10_000_000 * share };

const firstVersion = 2;
/** In milliseconds. */
const longest = 1000;

const dataFolder = await mkdtemp(join(tmpdir(), 'vestibule-migrations-'));
const database = await openEmbedded({ dataFolder, log: { info() {}, warn: console.warn } });
try {
  await measureMigrations(database.place);
  if (values.readme) await writeReadmeTable('bench:migrations', reported(), new Date());
} finally {
  await database.close();
  await rm(dataFolder, { recursive: true, force: true });
}

async function measureMigrations(place: Place): Promise<void> {
  const sql = connect(place, { poolSize: 1, statementTimeout: 0 });
  const all = join(import.meta.dirname, '../server/storage/migrations');
  const folder = join(dataFolder, 'migrations-so-far');
  await mkdir(folder);
  const names = (await readdir(all)).sort();
  for (const name of names.slice(0, firstVersion)) await copyFile(join(all, name), join(folder, name));
  await migrate(sql, { folder });
  await fill(sql, size);
  const waits: { name: string; wait: number }[] = [];
  for (const name of names.slice(firstVersion)) {
    await copyFile(join(all, name), join(folder, name));
    const wait = await longestSignIn(place, () => migrate(sql, { folder }));
    waits.push({ name, wait });
    if (wait > longest / 4) console.log(`${name}: ${wait.toFixed(0)} ms`);
  }
  await sql.end();
  const blocking = waits.filter(({ wait }) => wait > longest);
  for (const { name, wait } of blocking)
    report(`longest sign-in during ${name}`, `${(wait / 1000).toFixed(1)} s`, 'at most 1 s', false);
  const others = Math.max(...waits.filter(({ wait }) => wait <= longest).map(({ wait }) => wait));
  const count = waits.length - blocking.length;
  report(`longest sign-in during ${count} migrations`, `${others.toFixed(0)} ms`, 'at most 1 s', true);
}
