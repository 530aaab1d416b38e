import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import type { Place } from '#server/database/database.ts';
import { makeDeskRole } from '#server/database/desk-role.ts';
import { openEmbedded } from '#server/database/embedded/embedded.ts';
import { migrate } from '#server/database/migrate.ts';
import { buildIfStale } from '../../build-if-stale.ts';
import { onServer, placeOf } from './database-for-test.ts';
import { quickFolder } from './quick-folder.ts';

type Server = { place: Place; stop: () => Promise<void> };

/**
 * Vitest's global set-up: the built pages, and one PostgreSQL for the whole run, discarded at its end, or that of
 * TEST_DATABASE_URL, with a migrated database that each test copies.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await buildIfStale();
  const server = await findServer(process.env.TEST_DATABASE_URL);
  const template = `template_${randomBytes(8).toString('hex')}`;
  const tearDown = async () => {
    await onServer(server.place, (sql) => sql`drop database if exists ${sql(template)} with (force)`);
    await server.stop();
  };
  try {
    await onServer(server.place, (sql) => sql`create database ${sql(template)}`);
    await onServer(placeOf(server.place, template), async (sql) => {
      await migrate(sql);
      await makeDeskRole(sql);
    });
  } catch (error) {
    await tearDown();
    throw error;
  }
  project.provide('databaseServer', server.place);
  project.provide('templateDatabase', template);
  return tearDown;
}

async function findServer(url: string | undefined): Promise<Server> {
  if (url) return { place: { url }, stop: async () => {} };
  const dataFolder = await mkdtemp(join(quickFolder, 'vestibule-test-'));
  cleanUpWhenKilled(dataFolder);
  const log = { info() {}, warn: (text: string) => process.stderr.write(`${text}\n`) };
  const embedded = await openEmbedded({ dataFolder, log, durable: false });
  const stop = async () => {
    await embedded.close();
    await rm(dataFolder, { recursive: true, force: true });
  };
  return { place: embedded.place, stop };
}

/** PostgreSQL outlives its starter by design; a second process notices by its closed input that the run is over. */
function cleanUpWhenKilled(dataFolder: string): void {
  const script = join(import.meta.dirname, 'database-server-cleanup.ts');
  const child = spawn(process.execPath, [script, dataFolder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  child.unref();
  (child.stdin as unknown as { unref(): void }).unref();
}
