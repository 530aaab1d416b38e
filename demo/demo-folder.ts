import { readFileSync, rmSync } from 'node:fs';
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clusterFolder } from '#server/database/embedded/cluster.ts';

/** The one place on the disk where the demo writes. */
type DemoFolder = { path: string; remove: () => Promise<void> };

const start = 'vestibule-demo-';

/** Makes the folder; unless the process is killed, it is deleted when the process exits, for whatever reason. */
export async function makeDemoFolder(): Promise<DemoFolder> {
  await removeAbandoned();
  const path = await mkdtemp(join(tmpdir(), `${start}${process.pid}-`));
  const onExit = () => discard(path);
  process.once('exit', onExit);
  return {
    path,
    remove: async () => {
      await rm(path, { recursive: true, force: true, maxRetries: 5 });
      process.removeListener('exit', onExit);
    },
  };
}

/** What demos left that were killed. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = name.startsWith(start) ? name.slice(start.length).split('-')[0] : undefined;
    if (pid === undefined || isRunning(Number(pid))) continue;
    const path = join(tmpdir(), name);
    // Another user of this machine may have made one to have a process of ours stopped.
    if ((await lstat(path)).uid === process.getuid?.()) discard(path);
  }
}

function isRunning(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    // It is somebody else's.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Stops the folder's PostgreSQL, which need not save anything, and deletes the folder. */
function discard(folder: string): void {
  try {
    const pid = Number.parseInt(readFileSync(join(clusterFolder(join(folder, 'data')), 'postmaster.pid'), 'utf8'), 10);
    if (pid > 1) process.kill(pid, 'SIGQUIT');
  } catch {
    // It is not running.
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}
