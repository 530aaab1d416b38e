import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';

/** On both sides of what browsers learned late: `:has()`, `color-mix()`, `light-dark()`, `URL.parse` (docs/browsers.md). */
const versions = [92, 103, 111, 123];

// The packages hold programs for this system alone.
const isHere = process.platform === 'linux' && process.arch === 'x64';

/** The old versions of Chromium that are tried on this machine. */
export const oldChromiums: readonly number[] = isHere ? versions : [];

const folder = new URL('old-browsers/', import.meta.url);
const unpacked = (version: number) => new URL(`cache/chromium-${version}/`, folder);

/** Where an old Chromium lies once it is brought. */
export const oldChromium = (version: number) => fileURLToPath(new URL('chromium', unpacked(version)));

/** Null when the old versions are here or could be brought here; else one sentence that says what is missing. */
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
  // Under its name only once it is whole.
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
