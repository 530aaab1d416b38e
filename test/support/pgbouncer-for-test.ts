import { existsSync } from 'node:fs';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '#server/database/connect.ts';
import type { Database } from '#server/database/database.ts';
import { accountForPostgres } from '#server/database/embedded/binaries.ts';
import { bringPackages } from './bring-packages.ts';
import { cuttableDatabase } from './cuttable-database.ts';
import type { DatabaseForTest } from './database-for-test.ts';
import { freePort, isListening } from './free-port.ts';
import { startProcess } from './started-process.ts';

/** A PgBouncer in front of a database, and a pool on it. */
export type PgbouncerForTest = { sql: Database; url: string; close: () => Promise<void> };

type PgbouncerSettings = Record<string, string | number>;

/** The settings that the portal requires: docs/operating.md, Poolers. */
export const ignoredParameters = { ignore_startup_parameters: 'statement_timeout,options' };

/** Starts PgBouncer in front of a database, by default in transaction mode on a few sessions. */
export async function pgbouncerForTest(
  database: DatabaseForTest,
  settings: PgbouncerSettings = ignoredParameters,
): Promise<PgbouncerForTest> {
  await bringPackages(['pgbouncer'], () => existsSync(pgbouncer));
  // PgBouncer's account may not read the folder of the built-in PostgreSQL's socket.
  const wire = await cuttableDatabase(database);
  const to = new URL(wire.url);
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'vestibule-pgbouncer-'));
  const account = await accountForPostgres(folder);
  const file = join(folder, 'pgbouncer.ini');
  const server = `host=127.0.0.1 port=${to.port} dbname=${to.pathname.slice(1)} user=${decodeURIComponent(to.username)} password='${decodeURIComponent(to.password)}'`;
  const own = { listen_addr: '127.0.0.1', listen_port: port, unix_socket_dir: '', auth_type: 'any' };
  const all = { ...own, logfile: join(folder, 'log'), pool_mode: 'transaction', default_pool_size: 4, ...settings };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  await writeFile(file, ['[databases]', `vestibule = ${server}`, '[pgbouncer]', ...lines, ''].join('\n'), {
    mode: 0o600,
  });
  if (account) for (const path of [folder, file]) await chown(path, account.uid, account.gid);
  const started = await startProcess(pgbouncer, ['--quiet', file], () => isListening(port), { ...account });
  const url = `postgres://somebody@127.0.0.1:${port}/vestibule`;
  const sql = connect({ url });
  return {
    sql,
    url,
    close: async () => {
      await sql.end();
      await started.end('SIGKILL');
      await wire.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Debian's path; PGBOUNCER overrides it. */
export const pgbouncer = process.env.PGBOUNCER ?? '/usr/sbin/pgbouncer';
