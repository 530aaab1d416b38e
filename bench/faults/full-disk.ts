import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A small disk in memory that can be filled to the last byte. */
export type FullDisk = { folder: string; fill: () => Promise<void>; empty: () => Promise<void>; close: () => void };

const megabyte = Buffer.alloc(1 << 20);

/** Makes a disk of `size` megabytes, for which Linux asks for root. */
export function fullDisk(size: number): FullDisk {
  const folder = mkdtempSync(join(tmpdir(), 'vestibule-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}m,mode=0755`, 'tmpfs', folder]);
  const filler = join(folder, 'filler');
  return {
    folder,
    fill: async () => {
      const file = await open(filler, 'w');
      try {
        for (;;) await file.write(megabyte);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      } finally {
        await file.close();
      }
    },
    empty: async () => await rm(filler, { force: true }),
    close: () => {
      execFileSync('umount', ['--lazy', folder]);
      rmSync(folder, { recursive: true });
    },
  };
}
