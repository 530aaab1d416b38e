import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connect, isDatabaseAway, poolName } from '../connect.ts';
import type { Database, Place } from '../database.ts';
import { accountForPostgres, findBinaries } from './binaries.ts';
import { clusterFolder, clusterOwner, clusterPassword, dataFolderError, makeCluster } from './cluster.ts';
import { socketName, startPostgres, stopPostgres } from './process.ts';

/** The built-in PostgreSQL of a data folder, kept running while open. */
export type EmbeddedPostgres = {
  place: Place;
  /** Stops PostgreSQL unless somebody else uses it. Close your own pools first. */
  close(): Promise<void>;
};

type EmbeddedOptions = {
  dataFolder: string;
  log: { info(text: string): void; warn(text: string): void };
  /** False in tests only: nothing is synced to disk. */
  durable?: boolean;
};

const presence = 'vestibule presence';
const startPatience = 60_000;
const stopPatience = 15_000;

/**
 * Opens the database in a data folder: joins the PostgreSQL running there, else starts it, else creates it first. Each process
 * that uses it, the server or a command, holds one connection of its own: by it the last one to leave knows that it is the
 * last, and all know when PostgreSQL has ended, and start it again. Throws an error with one readable sentence on failure.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { dataFolder, log } = options;
  const folder = clusterFolder(dataFolder);
  const place = await placeIn(dataFolder).catch((error) => Promise.reject(dataFolderError(dataFolder, error)));
  let isClosing = false;
  let recovery = Promise.resolve();
  let { own, isOurs } = await bringUp(options, place, onGone);

  function onGone() {
    if (isClosing) return;
    log.warn('PostgreSQL exited; restarting it');
    recovery = recover();
  }

  async function recover() {
    while (!isClosing) {
      try {
        ({ own, isOurs } = await bringUp(options, place, onGone));
        return log.info('PostgreSQL is back');
      } catch (error) {
        log.warn((error as Error).message);
        await pause(1000);
      }
    }
  }

  async function close() {
    isClosing = true;
    await recovery;
    // Only who started it waits for others that are leaving too: a command beside a server is done at once.
    const isLast = await isAlone(own, isOurs ? 15 : 1).catch(() => false);
    if (isLast && !(await stopPostgres(folder, stopPatience)))
      log.warn('PostgreSQL is still shutting down; it will finish by itself');
    await own.end();
  }

  return { place, close };
}

async function placeIn(dataFolder: string): Promise<Place> {
  await mkdir(dataFolder, { recursive: true, mode: 0o700 });
  const path = join(clusterFolder(dataFolder), socketName);
  // The address of a Unix socket has room for 104 bytes on macOS, 108 on Linux (sockaddr_un).
  if (Buffer.byteLength(path) > 103)
    throw new Error(`The path of the data folder ${dataFolder} is too long: set VESTIBULE_DATA to a shorter one.`);
  return { path, database: 'postgres', user: clusterOwner, password: await clusterPassword(dataFolder) };
}

/** Joins PostgreSQL, starting it if it is not there. Of several that start it at once PostgreSQL itself lets one be. */
async function bringUp(
  options: EmbeddedOptions,
  place: Place,
  onGone: () => void,
): Promise<{ own: Database; isOurs: boolean }> {
  const { dataFolder } = options;
  const folder = clusterFolder(dataFolder);
  const deadline = Date.now() + startPatience;
  let started: { complaint: string | null } | null = null;
  while (Date.now() < deadline) {
    const own = await joinRunning(place, onGone);
    if (own) return { own, isOurs: started !== null };
    const complaint = started?.complaint ?? null;
    if (started === null || complaint !== null) {
      if (complaint && !/lock file|shared memory block|shutting down|starting up/.test(complaint))
        throw new Error(`PostgreSQL in ${folder} does not start: ${complaint}`);
      started = await start(options).catch((error) => Promise.reject(dataFolderError(dataFolder, error)));
    }
    await pause(complaint === null ? 15 : 100);
  }
  throw new Error(`PostgreSQL in ${folder} does not answer; see ${dataFolder}/postgres.log.`);
}

async function start({ dataFolder, log, durable = true }: EmbeddedOptions): Promise<{ complaint: string | null }> {
  const folder = clusterFolder(dataFolder);
  const runAs = await accountForPostgres(folder);
  const binaries = await findBinaries(runAs);
  if (!existsSync(folder)) log.info(`making the database in ${folder}, once`);
  await makeCluster(dataFolder, binaries, runAs);
  return await startPostgres({ folder, logPath: join(dataFolder, 'postgres.log'), durable, binaries, runAs });
}

async function joinRunning(place: Place, onGone: () => void): Promise<Database | null> {
  let isIn = false;
  const own = connect(place, {
    poolSize: 1,
    statementTimeout: 0,
    name: presence,
    onClose: () => isIn && onGone(),
  });
  try {
    await own`select 1`;
    isIn = true;
    return own;
  } catch (error) {
    await own.end();
    if (isDatabaseAway(error)) return null;
    throw error;
  }
}

/** Whether nobody else is in, pools aside, whose process has its presence: a closed connection takes a moment to end. */
async function isAlone(own: Database, attempts: number): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    const others = await own`
      select from pg_stat_activity
      where backend_type = 'client backend' and application_name <> ${poolName} and pid <> pg_backend_pid()`;
    if (others.length === 0) return true;
    if (attempt >= attempts) return false;
    await pause(20);
  }
}
