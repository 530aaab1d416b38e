import { execFile } from 'node:child_process';
import { chmod, chown, copyFile, glob, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { accountForPostgres } from '#server/database/embedded/binaries.ts';
import { bringPackages } from './bring-packages.ts';
import { freePort } from './free-port.ts';
import { type StartedProcess, startProcess } from './started-process.ts';

const run = promisify(execFile);

/** A PostgreSQL server as an operator has it, with its own client programs. */
export type DebianPostgresql = {
  port: number;
  /** The address of a database on it. */
  urlOf: (database: string) => string;
  /** Ends it at once, as a machine ends that loses its power. */
  kill: () => Promise<void>;
  /** Starts it again, with what it had stored. */
  start: () => Promise<void>;
  close: () => Promise<void>;
};

type DebianPostgresqlOptions = {
  settings?: Record<string, string | number>;
  /** Copies this one and follows it, as `standby`. */
  standbyOf?: DebianPostgresql;
  /** Answers with TLS, with a certificate for localhost or for another host. */
  certificate?: 'localhost' | 'elsewhere';
};

async function findPrograms(): Promise<string | null> {
  for await (const path of glob('/usr/lib/postgresql/*/bin/pg_dump')) return dirname(path);
  return null;
}

/** Starts a server from Debian's packages: the built-in PostgreSQL has no `pg_dump` and no `pg_basebackup`. */
export async function debianPostgresql({
  settings: more = {},
  standbyOf,
  certificate,
}: DebianPostgresqlOptions = {}): Promise<DebianPostgresql> {
  await bringPackages(['postgresql'], async () => (await findPrograms()) !== null);
  const programs = (await findPrograms()) as string;
  const folder = await mkdtemp(join(tmpdir(), 'vestibule-pg-'));
  const runAs = await accountForPostgres(folder);
  if (runAs) await chown(folder, runAs.uid, runAs.gid);
  const account = { cwd: folder, ...runAs };
  const data = join(folder, 'data');
  if (standbyOf) {
    const from = `host=127.0.0.1 port=${standbyOf.port} user=vestibule application_name=standby`;
    const args = ['--pgdata', data, '--dbname', from, '--write-recovery-conf', '--checkpoint=fast', '--no-sync'];
    await run(join(programs, 'pg_basebackup'), args, account);
  } else {
    const args = ['--pgdata', data, '--username=vestibule', '--auth=trust', '--encoding=UTF8', '--no-sync'];
    await run(join(programs, 'initdb'), args, account);
  }
  const port = await freePort();
  const tls = certificate ? await tlsSettings(folder, certificate, runAs) : {};
  const own = { listen_addresses: '127.0.0.1', port, unix_socket_directories: folder, fsync: 'off' };
  const settings = { ...own, ...tls, ...more };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  let server: StartedProcess;
  const isReady = () =>
    run(join(programs, 'pg_isready'), ['--host=127.0.0.1', `--port=${port}`]).then(
      () => true,
      () => false,
    );
  async function start() {
    server = await startProcess(join(programs, 'postgres'), ['-D', data, ...args], isReady, account);
  }
  await start();
  return {
    port,
    urlOf: (database) => `postgres://vestibule@127.0.0.1:${port}/${database}`,
    // Its other processes notice.
    kill: async () => void (await server.end('SIGKILL')),
    start,
    async close() {
      await server.end('SIGINT');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL accepts only a key that is its own. */
async function tlsSettings(
  folder: string,
  certificate: string,
  runAs: { uid: number; gid: number } | null,
): Promise<Record<string, string>> {
  const files = { ssl_cert_file: `test-only-${certificate}.pem`, ssl_key_file: 'test-only-server-key.pem' };
  for (const name of Object.values(files)) {
    const file = join(folder, name);
    await copyFile(fileURLToPath(new URL(name, import.meta.url)), file);
    await chmod(file, 0o600);
    if (runAs) await chown(file, runAs.uid, runAs.gid);
  }
  return { ssl: 'on', ...Object.fromEntries(Object.entries(files).map(([name, file]) => [name, join(folder, file)])) };
}
