import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';

const folder = fileURLToPath(new URL('old-browsers/', import.meta.url));

/** Where the oldest Chromium that docs/browsers.md promises everything is once it is downloaded: 106, next to 105. */
export const oldChromium = `${folder}cache/chromium`;

/** Null if it is present or could be downloaded; otherwise a sentence that says what is missing. Linux on x64 only. */
export async function bringOldChromium(): Promise<string | null> {
  if (existsSync(oldChromium)) return null;
  try {
    await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--legacy-peer-deps'], { cwd: folder });
    const packed = await readFile(`${folder}node_modules/old-chromium/bin/chromium.br`);
    await mkdir(`${folder}cache`, { recursive: true });
    // Renamed only once it is complete.
    await writeFile(`${oldChromium}.part`, await promisify(brotliDecompress)(packed), { mode: 0o755 });
    await rename(`${oldChromium}.part`, oldChromium);
    await rm(`${folder}node_modules`, { recursive: true });
    return null;
  } catch (error) {
    return `The tests in an old Chromium need the package of test/browser/old-browsers, and npm could not bring it: ${error}`;
  }
}
