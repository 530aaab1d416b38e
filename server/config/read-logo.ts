import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { extname } from 'node:path';

export const logoBytes = 64 * 1024;

/** A logo as pages load it. */
export type Logo = { address: string; mediaType: string; bytes: Buffer };

/** The kinds of logos, by the ending of their files. */
export const mediaTypes: Record<string, string> = {
  svg: 'image/svg+xml',
  png: 'image/png',
  webp: 'image/webp',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
};

/** The folder of logos, below the base path. */
export const logoFolder = '/assets/logo';

/** An SVG can hold scripts: opened by itself it is drawn, and nothing more. */
export const logoPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'";

/** Reads a logo, whose kind its name says, and whose address changes with its content. Null with a problem noted. */
export function readLogo(
  { field, path, basePath }: { field: string; path: string; basePath: string },
  problems: string[],
): Logo | null {
  try {
    if (statSync(path).size > logoBytes) {
      problems.push(`${field}: ${path} is larger than ${logoBytes / 1024} KB`);
      return null;
    }
    const bytes = readFileSync(path);
    const ending = extname(path).slice(1);
    const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 16);
    const address = `${basePath}${logoFolder}/${digest}.${ending}`;
    return { address, mediaType: mediaTypes[ending] as string, bytes };
  } catch (error) {
    problems.push(`${field}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
    return null;
  }
}
