import { spawn } from 'node:child_process';
import { open, readFile, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Binaries, RunAs } from './binaries.ts';
import { pathInside, spawnOptions } from './cluster.ts';

/** The name of the socket in the cluster's folder; PostgreSQL listens on no network address. */
export const socketName = '.s.PGSQL.5432';

const settings = {
  listen_addresses: '',
  unix_socket_directories: '.',
  unix_socket_permissions: '0700',
  port: '5432',
  cluster_name: 'vestibule',
  max_connections: '100',
  shared_buffers: '64MB',
  huge_pages: 'off',
  io_method: 'sync',
  jit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  min_wal_size: '32MB',
  max_wal_size: '256MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // Failed statements are reported to us; in this log their details would reveal personal data.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
};

/** For throw-away test databases only: a power cut would damage them. */
const undurableSettings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

type StartOptions = { folder: string; logPath: string; durable: boolean; binaries: Binaries; runAs: RunAs };

/**
 * Starts PostgreSQL as a separate process that outlives ours and does not receive our terminal's Ctrl-C. `complaint` is what
 * it logged last once it has ended, which it does at once if another one has the folder.
 */
export async function startPostgres(options: StartOptions): Promise<{ complaint: string | null }> {
  const { folder, logPath, durable, binaries, runAs } = options;
  await removeStaleLock(folder);
  const before = (await stat(logPath).catch(() => null))?.size ?? 0;
  if (before > 1_000_000) await truncate(logPath);
  const log = await open(logPath, 'a', 0o600);
  const flags = Object.entries({ ...settings, ...(durable ? {} : undurableSettings) });
  const child = spawn(
    binaries.postgres,
    ['-D', pathInside(folder, runAs), ...flags.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { ...spawnOptions(folder, runAs), detached: true, stdio: ['ignore', log.fd, log.fd] },
  );
  child.unref();
  const started: { complaint: string | null } = { complaint: null };
  child.once('error', (error) => Object.assign(started, { complaint: error.message }));
  child.once('exit', async () => {
    const text = await readFile(logPath, 'utf8').catch(() => '');
    Object.assign(started, { complaint: /^.*(?:FATAL|PANIC): +(.*)/ms.exec(text.slice(-2000))?.[1]?.trim() ?? '' });
  });
  await log.close();
  return started;
}

/** Tells PostgreSQL to stop and waits. Returns whether it stopped in time (milliseconds). */
export async function stopPostgres(folder: string, patience: number): Promise<boolean> {
  const pid = await findPostgresProcess(folder);
  if (pid === null) return true;
  process.kill(pid, 'SIGINT');
  const deadline = Date.now() + patience;
  while (await isPostgres(pid)) {
    if (Date.now() > deadline) return false;
    await pause(10);
  }
  return true;
}

/** The number of the PostgreSQL process running in the folder, or null. */
export async function findPostgresProcess(folder: string): Promise<number | null> {
  const pid = await lockOwner(folder);
  return pid !== null && (await isPostgres(pid)) ? pid : null;
}

/** A container that was killed starts again with the same process numbers; PostgreSQL only looks whether one is taken. */
async function removeStaleLock(folder: string): Promise<void> {
  const pid = await lockOwner(folder);
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null);
  if (command === null || command.includes('postgres')) return;
  for (const name of ['postmaster.pid', `${socketName}.lock`]) await rm(join(folder, name), { force: true });
}

async function lockOwner(folder: string): Promise<number | null> {
  const pid = Number.parseInt(await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => ''), 10);
  return pid > 0 ? pid : null;
}

async function isPostgres(pid: number): Promise<boolean> {
  // Empty for a process that has ended and that nobody has waited for.
  if (process.platform === 'linux')
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).includes('postgres');
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
