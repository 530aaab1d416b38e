import type { SealCount } from '../upkeep/renew-seals.ts';

/** The warning about seals that are not by the first secret, or null if all are. */
export function sealProblem(counts: readonly SealCount[]): { isLost: boolean; words: string } | null {
  const list = (part: 'older' | 'unreadable') =>
    counts.filter((count) => count[part] > 0).map((count) => `${count[part]} ${count.what}`);
  const lost = list('unreadable').join(', ');
  const older = list('older').join(', ');
  if (lost)
    return {
      isLost: true,
      words: `sealed under a secret missing from VESTIBULE_SECRET, and unusable until it is added at the end: ${lost}`,
    };
  if (older) return { isLost: false, words: `still sealed under an older secret: ${older} – vestibule secrets renew` };
  return null;
}
