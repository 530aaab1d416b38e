import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, glob, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { accountForPostgres } from '#server/embedded/account.ts';
import { bringPackages } from './bring-packages.ts';
import { freePort } from './free-port.ts';

const run = promisify(execFile);

/** A PostgreSQL server as an operator has it, with its own client programs. */
export type DebianPostgresql = {
  /** The address of a database on it. */
  urlOf: (database: string) => string;
  /** Runs one of its programs, such as `pg_dump`. */
  program: (name: string, ...args: string[]) => Promise<string>;
  close: () => Promise<void>;
};

async function findPrograms(): Promise<string | null> {
  for await (const path of glob('/usr/lib/postgresql/*/bin/pg_dump')) return dirname(path);
  return null;
}

/** Starts a server from Debian's packages: the built-in PostgreSQL has no `pg_dump`. */
export async function debianPostgresql(): Promise<DebianPostgresql> {
  const missing = await bringPackages(
    ['postgresql'],
    async () => (await findPrograms()) !== null,
    'The tests of backups need PostgreSQL and pg_dump: install them (Debian: apt-get install postgresql).',
  );
  if (missing) throw new Error(missing);
  const programs = (await findPrograms()) as string;
  const folder = await mkdtemp(join(tmpdir(), 'vestibule-pg-'));
  const runAs = await accountForPostgres(folder);
  if (runAs) await chown(folder, runAs.uid, runAs.gid);
  const account = { cwd: folder, ...runAs };
  const data = join(folder, 'data');
  const initdb = ['--pgdata', data, '--username=vestibule', '--auth=trust', '--encoding=UTF8', '--no-sync'];
  await run(join(programs, 'initdb'), initdb, account);
  const port = await freePort();
  const settings = { listen_addresses: '127.0.0.1', port, unix_socket_directories: folder, fsync: 'off' };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = spawn(join(programs, 'postgres'), ['-D', data, ...args], { ...account, stdio: 'ignore' });
  const ended = once(server, 'exit');
  const isReady = () =>
    run(join(programs, 'pg_isready'), ['--host=127.0.0.1', `--port=${port}`]).then(
      () => true,
      () => false,
    );
  while (!(await isReady())) {
    if (server.exitCode !== null) throw new Error('PostgreSQL did not start');
    await pause(50);
  }
  return {
    urlOf: (database) => `postgres://vestibule@127.0.0.1:${port}/${database}`,
    program: async (name, ...args) => (await run(join(programs, name), args)).stdout,
    async close() {
      server.kill('SIGINT');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
