import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A small logo, four times as wide as high. */
export const svgForTest =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 30"><path fill="#a50" d="M0 0h120v30H0z"/></svg>';

/** Writes an image file of this name to a folder of its own; returns its path. */
export function logoForTest(name: string, content: string | Buffer = svgForTest): string {
  const path = join(mkdtempSync(join(tmpdir(), 'vestibule-logo-')), name);
  writeFileSync(path, content);
  return path;
}
