// Measures what the size of an installation costs: each operation with a million users, a million sessions and ten million
// events, beside the same with a thousand of each, alternately. Usage: npm run bench:scale [-- --share 0.01]; the
// share is that of the large one.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { connect } from '#server/database/connect.ts';
import { openEmbedded } from '#server/database/embedded/embedded.ts';
import { migrate } from '#server/database/migrate.ts';
import { buildIfStale } from '../build-if-stale.ts';
import { fill, type Size } from './scale/fill.ts';
import type { Installation } from './scale/operations.ts';
import { measureOperations, measureUpkeep } from './scale/operations.ts';
import { startPortal } from './servers.ts';

const small: Size = { users: 1000, sessions: 1000, events: 1000 };
const { values } = parseArgs({
  options: { share: { type: 'string', default: '1' } },
});
const share = Number(values.share);
const large: Size = { users: 1_000_000 * share, sessions: 1_000_000 * share, events: 10_000_000 * share };

const opened: (() => Promise<unknown>)[] = [];
try {
  await buildIfStale();
  const one = await open(small);
  const other = await open(large);
  await measureOperations(one, other);
  await measureUpkeep(other);
} finally {
  for (const close of opened.reverse()) await close();
}

async function open(size: Size): Promise<Installation> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'vestibule-scale-'));
  opened.push(() => rm(dataFolder, { recursive: true, force: true }));
  const database = await openEmbedded({ dataFolder, log: { info() {}, warn: console.warn } });
  opened.push(() => database.close());
  const filling = connect(database.place, { poolSize: 1, statementTimeout: 0 });
  await migrate(filling);
  await fill(filling, size);
  await filling.end();
  const sql = connect(database.place);
  opened.push(() => sql.end());
  const portal = await startPortal(dataFolder);
  opened.push(() => portal.stop());
  return { dataFolder, origin: portal.origin, sql, size };
}
