import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { connect } from '#server/database/connect.ts';
import { accountForPostgres, reachableBinaries } from '#server/database/embedded/binaries.ts';
import { freePort } from './free-port.ts';
import { quickFolder } from './quick-folder.ts';

const run = promisify(execFile);

/** Starts an empty server from a package's `native` folder, which the server's account can read. */
export async function startFetchedPostgresql(native: string): Promise<{ url: string; close: () => Promise<void> }> {
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
  const server = spawn(postgres, ['-D', data, ...args], { ...how, stdio: 'ignore' });
  const ended = once(server, 'exit');
  const url = `postgres://vestibule:${password}@127.0.0.1:${port}/postgres`;
  while (!(await answers(url))) {
    if (server.exitCode !== null) throw new Error('PostgreSQL did not start');
    await pause(50);
  }
  return {
    url,
    close: async () => {
      server.kill('SIGINT');
      await ended;
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
