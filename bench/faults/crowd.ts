import { setTimeout as pause } from 'node:timers/promises';

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
