import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { readOrMakeSecretFile, readSecretFile, syncFolder } from '#server/secrets/secret-file.ts';
import type { RunAs } from './account.ts';
import type { Binaries } from './binaries.ts';
import { processState } from './process-state.ts';

const run = promisify(execFile);

/** The role that owns everything in the built-in PostgreSQL. */
export const clusterOwner = 'vestibule';

/** Where the built-in PostgreSQL keeps its files and its socket. */
export function clusterFolder(dataFolder: string): string {
  return join(dataFolder, 'postgres');
}

/** The cluster's password, created before the cluster. Throws if the cluster exists without it. */
export async function clusterPassword(dataFolder: string): Promise<string> {
  const path = join(dataFolder, 'postgres-password');
  const kept = await readSecretFile(path);
  if (kept !== null) return kept;
  if (await exists(clusterFolder(dataFolder))) {
    throw new Error(
      `The file ${path} is missing, but the database in ${clusterFolder(dataFolder)} needs it: restore it from a backup.`,
    );
  }
  return readOrMakeSecretFile(path);
}

/**
 * Creates the cluster if missing. It is built in a neighbouring folder and moved when complete, so that a crash leaves
 * nothing half-made and of two concurrent starts the second uses the first one's cluster.
 */
export async function makeCluster(
  dataFolder: string,
  password: string,
  binaries: Binaries,
  runAs: RunAs,
): Promise<void> {
  const place = clusterFolder(dataFolder);
  if (await exists(place)) return;
  const draft = join(dataFolder, `postgres-draft-${process.pid}-${randomBytes(6).toString('hex')}`);
  try {
    await buildCluster(draft, password, binaries, runAs);
    await rename(join(draft, 'cluster'), place);
    await syncFolder(dataFolder);
  } catch (error) {
    if (!(await exists(place))) throw error;
  } finally {
    await rm(draft, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function buildCluster(draft: string, password: string, binaries: Binaries, runAs: RunAs): Promise<void> {
  const folder = join(draft, 'cluster');
  const passwordFile = join(draft, 'password');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  if (runAs) for (const path of [draft, folder, passwordFile]) await chown(path, runAs.uid, runAs.gid);
  await run(
    binaries.initdb,
    [
      `--pgdata=${pathInside(folder, runAs)}`,
      `--username=${clusterOwner}`,
      '--pwfile=../password',
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      // Megabytes; a new log segment is filled with zeros.
      '--wal-segsize=4',
      '--no-instructions',
    ],
    spawnOptions(folder, runAs),
  );
}

/**
 * How PostgreSQL is given its folder. A different account cannot traverse the path, which starts in folders closed to
 * it (the data folder, perhaps a home); it starts inside, since the working directory is entered before the account is
 * changed.
 */
export function pathInside(folder: string, runAs: RunAs): string {
  return runAs ? '/proc/self/cwd' : folder;
}

/**
 * Working directory, account and environment for PostgreSQL's programs. Our environment holds secrets: not passed on.
 */
export function spawnOptions(folder: string, runAs: RunAs) {
  return { cwd: folder, env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' }, ...runAs };
}

/**
 * Removes leftovers of processes that were killed while creating a cluster or its password. Their initdb may run on
 * briefly and put files back, so a second attempt may be needed.
 */
export async function removeAbandonedDrafts(dataFolder: string): Promise<void> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const abandoned = await listAbandoned(dataFolder);
    if (abandoned.length === 0) return;
    const removals = abandoned.map((name) => rm(join(dataFolder, name), { recursive: true, force: true }));
    await Promise.allSettled(removals);
    await pause(100);
  }
}

async function listAbandoned(dataFolder: string): Promise<string[]> {
  const names: string[] = [];
  for (const name of await readdir(dataFolder)) {
    const owner = /^postgres-(?:draft-|password\.)(\d+)-/.exec(name)?.[1];
    if (owner !== undefined && (await processState(Number(owner))).state !== 'running') names.push(name);
  }
  return names;
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}
