// Measures the figures of docs/performance.md in one run, and prints one table. Speed is compared with what ran by turns with
// it, since machines differ and are noisy. A whole run writes the table there, and a part of it to the README.
// Usage: npm run bench [-- starts | pages | peers | refusals, instead of all]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { hashPassword } from '#server/crypto/password-hash.ts';
import { connect } from '#server/database/connect.ts';
import type { Database, Place } from '#server/database/database.ts';
import { openEmbedded } from '#server/database/embedded/embedded.ts';
import { migrate } from '#server/database/migrate.ts';
import { buildIfStale } from '../build-if-stale.ts';
import { floor, ours, startAuthJs, startBetterAuth } from './contenders.ts';
import { printTable, writeTables } from './figures.ts';
import { measureCommands, measureFlood, measureMemoryAtRest, measureStarts } from './instance.ts';
import { comparePages } from './pages.ts';
import { addUsers, password } from './people.ts';
import { compareChecks, compareGate, comparePageRates, compareSignIns } from './rates.ts';
import { measureForgotten, measureRefusals } from './refusals.ts';
import { type RunningServer, root, startPortal, startScript } from './servers.ts';

const { positionals: words } = parseArgs({ allowPositionals: true });
const isAsked = (part: string) => words.length === 0 || words.includes(part);

const stops: (() => Promise<unknown>)[] = [];
const dataFolder = await mkdtemp(join(tmpdir(), 'vestibule-bench-'));
try {
  await buildIfStale();
  const hasPeers = isAsked('peers') && (await installPeers());
  if (isAsked('starts')) await measureStarts(dataFolder);
  const database = await openEmbedded({ dataFolder, log: { info() {}, warn: console.warn } });
  stops.push(() => database.close());
  const sql = connect(database.place);
  stops.push(() => sql.end());
  await migrate(sql);
  await addUsers(sql);
  const hub = running(await startScript(['bench/floors.ts', 'hub']));
  const portal = running(await startPortal(dataFolder, await settings({ hub: { url: hub.origin, paths: ['/app'] } })));
  if (isAsked('starts')) {
    await measureMemoryAtRest(portal);
    await measureCommands(dataFolder);
  }
  if (isAsked('pages')) await comparePages(portal.origin);
  if (isAsked('peers')) await compareRates(portal, { hub, hasPeers, place: database.place, sql });
  if (isAsked('refusals')) {
    await measureFlood(portal);
    await measureRefusals(portal, sql);
    await measureForgotten(portal, sql);
  }
  printTable();
  if (words.length === 0 && hasPeers) await writeTables(new Date());
} finally {
  for (const stop of stops.reverse()) await stop().catch(console.error);
  await rm(dataFolder, { recursive: true, force: true });
}

async function compareRates(
  portal: RunningServer,
  { hub, hasPeers, place, sql }: { hub: RunningServer; hasPeers: boolean; place: Place; sql: Database },
): Promise<void> {
  const hash = await hashPassword(password, null);
  const bare = running(await startScript(['bench/floors.ts', 'server', hash, portal.origin, hub.origin], place));
  // Every request to it comes from the proxy.
  const proxied = running(await startPortal(dataFolder, await settings({ trustedProxies: ['127.0.0.1', '::1'] })));
  const peers = hasPeers ? [running(await startBetterAuth(place)), running(await startAuthJs(place))] : [];
  const field = { ours: ours(portal), floor: floor(bare), peers };
  await compareSignIns(field);
  await sql`delete from throttle`;
  await compareChecks(field, proxied.origin);
  await compareGate(field);
  await comparePageRates(field);
}

/** Installs what we are compared with, as locked; without it the rest is measured. */
async function installPeers(): Promise<boolean> {
  const npm = spawn('npm', ['ci', '--prefix', 'bench/peers', '--loglevel', 'error'], { cwd: root, stdio: 'inherit' });
  const [code] = await once(npm, 'exit');
  if (code !== 0) console.error('Better Auth and Auth.js could not be installed: measuring without them.');
  return code === 0;
}

/** Settings of a portal, in a file of their own. */
async function settings(content: object): Promise<{ VESTIBULE_CONFIG: string }> {
  const file = join(dataFolder, `${Object.keys(content)}.config.json`);
  await writeFile(file, JSON.stringify(content));
  return { VESTIBULE_CONFIG: file };
}

function running<S extends RunningServer>(server: S): S {
  stops.push(server.stop);
  return server;
}
