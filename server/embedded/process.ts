import { spawn } from 'node:child_process';
import { open, readFile, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { RunAs } from './account.ts';
import type { Binaries } from './binaries.ts';
import { pathInside, spawnOptions } from './cluster.ts';
import { processState } from './process-state.ts';

/** Only part of the socket's name: PostgreSQL listens on no network address. */
const port = 5432;

/** The name of the socket in the cluster's folder. */
export const socketName = `.s.PGSQL.${port}`;

/** A larger PostgreSQL log is emptied at the next start. */
const longestLogInBytes = 1_000_000;

const settings = {
  listen_addresses: '',
  unix_socket_directories: '.',
  unix_socket_permissions: '0700',
  port: String(port),
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

/** A PostgreSQL that we started; on exit it reports its last output, empty if it was told to stop. */
export type StartedPostgres = { ended: boolean; complaint: string };

export type StartOptions = { folder: string; logPath: string; durable: boolean; binaries: Binaries; runAs: RunAs };

/** Starts PostgreSQL as a separate process that outlives ours and does not receive our terminal's Ctrl-C. */
export async function startPostgres(options: StartOptions): Promise<StartedPostgres> {
  const { folder, logPath, durable, binaries, runAs } = options;
  await trimLog(logPath);
  const log = await open(logPath, 'a', 0o600);
  const { size } = await log.stat();
  const flags = Object.entries({ ...settings, ...(durable ? {} : undurableSettings) });
  const child = spawn(
    binaries.postgres,
    ['-D', pathInside(folder, runAs), ...flags.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { ...spawnOptions(folder, runAs), detached: true, stdio: ['ignore', log.fd, log.fd] },
  );
  child.unref();
  const started: StartedPostgres = { ended: false, complaint: '' };
  const end = (complaint: string) => Object.assign(started, { ended: true, complaint });
  child.once('error', (error) => end(error.message));
  child.once('exit', async (code) => end(code === 0 ? '' : await lastWords(logPath, size)));
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

async function trimLog(logPath: string): Promise<void> {
  const found = await stat(logPath).catch(() => null);
  if (found && found.size > longestLogInBytes) await truncate(logPath);
}

async function lastWords(logPath: string, from: number): Promise<string> {
  const lines = (await readFile(logPath)).subarray(from).toString().split('\n');
  const serious = lines.filter((line) => /\b(?:FATAL|PANIC|HINT): /.test(line));
  const words = (serious.length > 0 ? serious : lines).map((line) => line.replace(/^.*?(?:FATAL|PANIC|HINT): +/, ''));
  return words.join(' ').trim().slice(0, 500);
}

/** The process number of the PostgreSQL running in the folder, or null. */
export async function findPostgresProcess(folder: string): Promise<number | null> {
  const pid = await lockOwner(folder);
  return pid !== null && (await isPostgres(pid)) ? pid : null;
}

/**
 * Removes lock files that name a process other than PostgreSQL: its number was reused, for example after a container
 * restart, or it ended and its parent never noticed. PostgreSQL itself only checks whether the number is taken.
 */
export async function removeStaleLocks(folder: string): Promise<void> {
  const pid = await lockOwner(folder);
  if (pid === null || (await isPostgres(pid)) || (await processState(pid)).state === 'none') return;
  for (const name of ['postmaster.pid', `${socketName}.lock`]) await rm(join(folder, name), { force: true });
}

async function lockOwner(folder: string): Promise<number | null> {
  const text = await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  return pid > 0 ? pid : null;
}

async function isPostgres(pid: number): Promise<boolean> {
  const { state, name } = await processState(pid);
  return state === 'running' && (name === null || name.startsWith('postgres'));
}
