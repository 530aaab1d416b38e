import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { OpenIdProvider } from '#test/providers/openid-provider-for-test.ts';
import type { MailServerForTest } from '#test/support/mail-for-test.ts';
import type { TwoPortals, TwoPortalsOnOne } from '#test/support/two-portals.ts';

/** Two instances, and who uses them beside the constant load. */
export type UnderLoad = { portals: TwoPortals; crowds: readonly Crowd[] };

/** The addresses to which an email was promised. */
export type AskedMails = string[];

/** All that a fault may touch. */
export type World = UnderLoad & {
  portals: TwoPortalsOnOne;
  disk: FullDisk;
  mailServer: MailServerForTest;
  askedMails: AskedMails;
  provider: OpenIdProvider;
};

/**
 * What is done to two instances under load. `begin` returns what ends it, which is done `lasts` milliseconds later.
 * `mayLose` is how many requests may get no answer or a wrong one; all others are answered well or refused honestly.
 */
export type Fault<W = World> = {
  name: string;
  lasts: number;
  mayLose: number;
  begin: (world: W) => Promise<() => unknown>;
  /** Whether people who sign in with a password may notice nothing of it. */
  sparesPasswords?: boolean;
};

/** A small disk in memory that can be filled to the last byte. */
type FullDisk = { folder: string; fill: () => Promise<void>; empty: () => Promise<void>; close: () => void };

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

/** How requests ended: well, refused honestly, or lost, by kind and status or error. */
export type Counts = { well: number; refused: number; lost: Record<string, number> };

/** People who do one thing after the other, since the last `begin`. */
export type Crowd = {
  counts: () => Counts;
  begin: () => void;
  /** Resolves once something more has ended well. */
  wellAgain: () => Promise<void>;
};

/** A crowd, and what each of its requests tells it. */
export function countedCrowd(): Crowd & { well: () => void; refused: () => void; lost: (how: string) => void } {
  const none = (): Counts => ({ well: 0, refused: 0, lost: {} });
  let counts = none();
  let isWell = false;
  return {
    counts: () => counts,
    begin: () => {
      counts = none();
    },
    wellAgain: async () => {
      isWell = false;
      while (!isWell) await pause(10);
    },
    well: () => {
      isWell = true;
      counts.well += 1;
    },
    refused: () => {
      counts.refused += 1;
    },
    lost: (how) => {
      counts.lost[how] = (counts.lost[how] ?? 0) + 1;
    },
  };
}
