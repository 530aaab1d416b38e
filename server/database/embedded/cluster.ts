import { execFile } from 'node:child_process';
import { chown, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readOrMakeSecretFile, readSecretFile, syncFolder } from '../../crypto/keys.ts';
import type { Binaries, RunAs } from './binaries.ts';

/** A file system error as one sentence for the operator; other errors are returned unchanged. */
export function dataFolderError(folder: string, error: unknown): unknown {
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  if (!code || !syscall) return error;
  return new Error(
    `The data folder ${folder} cannot be used (${syscall} ${path ?? ''}: ${code}): make it writable for this user, ` +
      'set VESTIBULE_DATA to another folder, or set DATABASE_URL.',
    { cause: error },
  );
}

const run = promisify(execFile);
const draftName = 'postgres-draft-';

/** The role that owns everything in the built-in PostgreSQL. */
export const clusterOwner = 'vestibule';

/** Where the built-in PostgreSQL keeps its files and its socket. */
export function clusterFolder(dataFolder: string): string {
  return join(dataFolder, 'postgres');
}

/** The cluster's password, created before the cluster. Throws if the cluster exists without it. */
export async function clusterPassword(dataFolder: string): Promise<string> {
  const path = join(dataFolder, 'postgres-password');
  const cluster = clusterFolder(dataFolder);
  if ((await readSecretFile(path)) === null && (await exists(cluster)))
    throw new Error(`The file ${path} is missing, but the database in ${cluster} needs it: restore it from a backup.`);
  return await readOrMakeSecretFile(path);
}

/**
 * Creates the cluster if it is missing. It is built in a neighbouring folder and moved when complete, so that a crash leaves
 * nothing half-made, and of two starts at once the second uses what the first one made. Refuses one of another major version.
 */
export async function makeCluster(dataFolder: string, binaries: Binaries, runAs: RunAs): Promise<void> {
  const place = clusterFolder(dataFolder);
  if (!(await exists(place))) {
    const draft = await mkdtemp(join(dataFolder, draftName));
    try {
      await buildCluster(draft, await clusterPassword(dataFolder), binaries, runAs);
      await rename(join(draft, 'cluster'), place);
      await syncFolder(dataFolder);
    } catch (error) {
      if (!(await exists(place))) throw error;
    }
  }
  const drafts = (await readdir(dataFolder)).filter((name) => name.startsWith(draftName));
  // An initdb whose starter was killed may still be writing there: then the next start removes it.
  for (const name of drafts) await rm(join(dataFolder, name), { recursive: true, force: true }).catch(() => {});
  const made = (await readFile(join(place, 'PG_VERSION'), 'utf8')).trim();
  const { stdout } = await run(binaries.postgres, ['--version'], spawnOptions('/', runAs));
  const ours = /\d+/.exec(stdout)?.[0];
  if (made !== ours)
    throw new Error(`The database in ${place} was made by PostgreSQL ${made}, and this one is ${ours}: pg_upgrade it.`);
}

async function buildCluster(draft: string, password: string, binaries: Binaries, runAs: RunAs): Promise<void> {
  const folder = join(draft, 'cluster');
  const passwordFile = join(draft, 'password');
  await mkdir(folder, { mode: 0o700 });
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  if (runAs) for (const path of [draft, folder, passwordFile]) await chown(path, runAs.uid, runAs.gid);
  const access = [`--username=${clusterOwner}`, '--pwfile=../password', '--auth=scram-sha-256'];
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  // Megabytes; a new log segment is filled with zeros.
  const args = [`--pgdata=${pathInside(folder, runAs)}`, ...access, ...locale, '--wal-segsize=4', '--no-instructions'];
  await run(binaries.initdb, args, spawnOptions(folder, runAs)).catch((error: Error & { stderr?: string }) => {
    const why = /(?:FATAL|error): +(.*)/.exec(error.stderr ?? '')?.[1] ?? error.message;
    throw new Error(`PostgreSQL cannot make the database in ${draft}: ${why}`, { cause: error });
  });
}

/**
 * How PostgreSQL is given its folder. Another account cannot pass the folders above, which may be closed to it (a home); it
 * starts inside, since the working directory is entered before the account is changed.
 */
export function pathInside(folder: string, runAs: RunAs): string {
  return runAs ? '/proc/self/cwd' : folder;
}

/** Our environment holds secrets: PostgreSQL's programs do not get it. */
export function spawnOptions(folder: string, runAs: RunAs) {
  return { cwd: folder, env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' }, ...runAs };
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}
