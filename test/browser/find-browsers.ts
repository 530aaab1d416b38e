import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { bringPackages } from '../support/bring-packages.ts';

/** The first of these names on the PATH, otherwise the first of these places that is a program, or null. */
function findProgram(
  names: readonly string[],
  { PATH = '' }: NodeJS.ProcessEnv,
  usualPlaces: readonly string[] = [],
): string | null {
  const onPath = PATH.split(delimiter)
    .filter(Boolean)
    .flatMap((folder) => names.map((name) => join(folder, name)));
  return [...onPath, ...usualPlaces].find(isProgram) ?? null;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Headless Chromium first: the same engine, with half the CPU time. */
const chromiumNames = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'chrome',
  'microsoft-edge',
];
const usualPlaces = [
  '/usr/lib/chromium/chromium',
  '/snap/bin/chromium',
  '/opt/google/chrome/chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
];

/** The Chromium of this machine: the one that CHROMIUM names, else one on the PATH or in a usual place, or null. */
export function findChromium(env: NodeJS.ProcessEnv): string | null {
  if (env.CHROMIUM) return isProgram(env.CHROMIUM) ? env.CHROMIUM : null;
  return findProgram(chromiumNames, env, usualPlaces);
}

const folder = fileURLToPath(new URL('old-browsers/', import.meta.url));

/** Where the oldest Chromium that docs/browsers.md promises everything is once it is downloaded: 106, next to 105. */
export const oldChromium = `${folder}cache/chromium`;

/** Downloads it unless it is here. Linux on x64 only. */
export async function bringOldChromium(): Promise<void> {
  if (existsSync(oldChromium)) return;
  await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--legacy-peer-deps'], { cwd: folder });
  const packed = await readFile(`${folder}node_modules/old-chromium/bin/chromium.br`);
  await mkdir(`${folder}cache`, { recursive: true });
  // Renamed only once it is complete.
  await writeFile(`${oldChromium}.part`, await promisify(brotliDecompress)(packed), { mode: 0o755 });
  await rename(`${oldChromium}.part`, oldChromium);
  await rm(`${folder}node_modules`, { recursive: true });
}

/** The Firefox of this machine: the one named by FIREFOX, otherwise one on the PATH or in a usual place, or null. */
export function findFirefox(): string | null {
  return (
    process.env.FIREFOX ??
    findProgram(['firefox-esr', 'firefox'], process.env, ['/Applications/Firefox.app/Contents/MacOS/firefox'])
  );
}

export const bringFirefox = () => bringPackages(['firefox-esr'], () => findFirefox() !== null);

/** The driver of WebKitGTK, which knows its browser, and the X server that it runs on. */
export type Webkit = { driver: string; display: string };

/** The WebKitGTK of this machine, or null. */
export function findWebkit(): Webkit | null {
  const driver = findProgram(['WebKitWebDriver'], process.env);
  const display = findProgram(['Xvfb'], process.env);
  return driver && display ? { driver, display } : null;
}

export const bringWebkit = () => bringPackages(['webkit2gtk-driver', 'xvfb'], () => findWebkit() !== null);
