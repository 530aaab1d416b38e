import { openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Place } from '../storage/database.ts';
import { accountForPostgres } from './account.ts';
import { findBinaries } from './binaries.ts';
import { clusterFolder, clusterOwner, clusterPassword, makeCluster, removeAbandonedDrafts } from './cluster.ts';
import { dataFolderError, prepareDataFolder } from './data-folder.ts';
import { enter, leave, type Presence } from './presence.ts';
import {
  findPostgresProcess,
  removeStaleLocks,
  type StartedPostgres,
  socketName,
  startPostgres,
  stopPostgres,
} from './process.ts';

/** The built-in PostgreSQL of a data folder, kept running while open. */
export type EmbeddedPostgres = {
  place: Place;
  /** Stops PostgreSQL unless somebody else uses it. Close your own pools first. */
  close(): Promise<void>;
};

export type EmbeddedOptions = {
  dataFolder: string;
  log: { info(text: string): void; warn(text: string): void };
  /** False in tests only: nothing is synced to disk. */
  durable?: boolean;
};

/** How long PostgreSQL may take to start, crash recovery included, and to stop, in milliseconds. */
const startPatience = 60_000;
const stopPatience = 15_000;

/**
 * Opens the database in a data folder: joins the PostgreSQL running there, else starts it, else creates it first.
 * Several processes may do so at once. While open, a PostgreSQL that ends for any reason is restarted. Throws an error
 * with one readable sentence on failure.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { dataFolder, log } = options;
  const place = await placeIn(dataFolder).catch((error) => Promise.reject(dataFolderError(dataFolder, error)));
  const closing = new AbortController();
  let presence = await bringUp(options, place, closing.signal, onGone);
  let recovery = Promise.resolve();

  function onGone() {
    if (!closing.signal.aborted) recovery = recover();
  }

  async function recover() {
    log.warn('PostgreSQL exited; restarting it');
    await presence.end();
    while (!closing.signal.aborted) {
      try {
        presence = await bringUp(options, place, closing.signal, onGone);
        return log.info('PostgreSQL is back');
      } catch (error) {
        log.warn((error as Error).message);
        await pause(1000);
      }
    }
  }

  async function close() {
    closing.abort();
    await recovery;
    await removeAbandonedDrafts(dataFolder);
    await leave(presence, async () => {
      const stopped = await stopPostgres(clusterFolder(dataFolder), stopPatience);
      if (!stopped) log.warn('PostgreSQL is still shutting down; it will finish by itself');
    });
  }

  return { place, close };
}

async function placeIn(dataFolder: string): Promise<Place> {
  await prepareDataFolder(dataFolder);
  const password = await clusterPassword(dataFolder);
  const path = socketPath(dataFolder);
  return { path, database: 'postgres', user: clusterOwner, password };
}

/** The address of a Unix socket has room for 104 bytes on macOS, 108 on Linux (sockaddr_un). */
function socketPath(dataFolder: string): string {
  const path = join(clusterFolder(dataFolder), socketName);
  if (Buffer.byteLength(path) <= 103) return path;
  if (process.platform !== 'linux') {
    throw new Error(`The path of the data folder ${dataFolder} is too long: set VESTIBULE_DATA to a shorter one.`);
  }
  // The folder stays open as long as this process: its descriptor number is the short path to the socket.
  return join(clusterFolder(`/proc/self/fd/${openSync(dataFolder, 'r')}`), socketName);
}

/** Joins PostgreSQL, starting it whenever it is not running, until it answers. */
async function bringUp(
  { dataFolder, durable = true }: EmbeddedOptions,
  place: Place,
  closing: AbortSignal,
  onGone: () => void,
): Promise<Presence> {
  const folder = clusterFolder(dataFolder);
  const deadline = Date.now() + startPatience;
  let started: StartedPostgres | null = null;
  for (;;) {
    const presence = await enter(place, onGone);
    if (presence) return presence;
    closing.throwIfAborted();
    if (started?.ended) refuseUnlessPassing(started.complaint, folder);
    if (Date.now() > deadline)
      throw new Error(`PostgreSQL in ${folder} does not answer; see ${dataFolder}/postgres.log.`);
    const isDown = (started === null || started.ended) && (await findPostgresProcess(folder)) === null;
    if (isDown)
      started = await start(dataFolder, durable).catch((error) => Promise.reject(dataFolderError(dataFolder, error)));
    await pause(started?.complaint ? 100 : 15);
  }
}

async function start(dataFolder: string, durable: boolean): Promise<StartedPostgres> {
  const folder = clusterFolder(dataFolder);
  const runAs = await accountForPostgres(folder);
  const binaries = await findBinaries(runAs);
  await makeCluster(dataFolder, await clusterPassword(dataFolder), binaries, runAs);
  await removeStaleLocks(folder);
  return startPostgres({ folder, logPath: join(dataFolder, 'postgres.log'), durable, binaries, runAs });
}

/** Concurrent starts and sessions that outlive a killed PostgreSQL resolve themselves. */
function refuseUnlessPassing(complaint: string, folder: string): void {
  if (complaint === '' || /lock file|shared memory block|already running|already in use/.test(complaint)) return;
  throw new Error(`PostgreSQL in ${folder} does not start: ${complaint}`);
}
