import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';

/**
 * Before and after browsers learned late features: `:has()`, `color-mix()`, `light-dark()`, `URL.parse`
 * (docs/browsers.md).
 */
const versions = [92, 103, 111, 123];

// The packages contain programs for this system only.
const isHere = process.platform === 'linux' && process.arch === 'x64';

/** The old versions of Chromium tested on this machine. */
export const oldChromiums: readonly number[] = isHere ? versions : [];

const folder = new URL('old-browsers/', import.meta.url);
const unpacked = (version: number) => new URL(`cache/chromium-${version}/`, folder);

/** The path of an old Chromium once it is downloaded. */
export const oldChromium = (version: number) => fileURLToPath(new URL('chromium', unpacked(version)));

/** Null if the old versions are present or could be downloaded; otherwise a sentence that says what is missing. */
export async function bringOldChromium(): Promise<string | null> {
  const missing = oldChromiums.filter((version) => !existsSync(oldChromium(version)));
  if (missing.length === 0) return null;
  try {
    await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--legacy-peer-deps'], { cwd: fileURLToPath(folder) });
    for (const version of missing) await unpack(version);
    return null;
  } catch (error) {
    return `The tests in old browsers need the packages of e2e/old-browsers, and npm could not bring them: ${error}`;
  }
}

async function unpack(version: number): Promise<void> {
  const packed = await readFile(new URL(`node_modules/chromium-${version}/bin/chromium.br`, folder));
  await mkdir(unpacked(version), { recursive: true });
  const whole = oldChromium(version);
  // Renamed only once it is complete.
  const part = `${whole}.part`;
  await writeFile(part, await promisify(brotliDecompress)(packed), { mode: 0o755 });
  await rename(part, whole);
  await rm(new URL(`node_modules/chromium-${version}/`, folder), { recursive: true });
}

if (import.meta.main) {
  const complaint = await bringOldChromium();
  if (complaint) {
    console.error(complaint);
    process.exitCode = 1;
  }
}
