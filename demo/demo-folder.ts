import { readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clusterFolder } from '#server/embedded/cluster.ts';

/** The one place on the disk where the demo writes. */
export type DemoFolder = { path: string; remove: () => Promise<void> };

/** Makes the folder; whatever way the process exits, it is deleted. */
export async function makeDemoFolder(): Promise<DemoFolder> {
  const path = await mkdtemp(join(tmpdir(), 'vestibule-demo-'));
  const afterCrash = () => {
    killPostgres(path);
    rmSync(path, { recursive: true, force: true, maxRetries: 5 });
  };
  process.once('exit', afterCrash);
  return {
    path,
    remove: async () => {
      await rm(path, { recursive: true, force: true, maxRetries: 5 });
      process.removeListener('exit', afterCrash);
    },
  };
}

/** After a crash nobody else would stop it. Its data are deleted next, so it need not shut down. */
function killPostgres(folder: string): void {
  try {
    const [pid] = readFileSync(join(clusterFolder(folder), 'postmaster.pid'), 'utf8').split('\n');
    process.kill(Number(pid), 'SIGQUIT');
  } catch {
    // It is not running.
  }
}
