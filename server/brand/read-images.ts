import { closeSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import { limits } from '../limits.ts';
import type { BrandImages } from './read-brand.ts';

type Named = { logo?: string; logoDark?: string };

/** Reads the image files that a brand names, relative to `folder`. Adds what cannot be read to `problems`. */
export function readImages(named: Named, folder: string, problems: string[]): BrandImages {
  const read = (field: keyof BrandImages) => {
    const path = named[field];
    if (path === undefined) return null;
    try {
      return beginningOf(resolve(folder, path));
    } catch (error) {
      problems.push(`${field}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
      return null;
    }
  };
  return { logo: read('logo'), logoDark: read('logoDark') };
}

/** At most one byte more than a logo may have: enough to see that it is too large. */
function beginningOf(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(limits.logoBytes + 1);
    return bytes.subarray(0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}
