import { execFileSync, spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { bringLemonldap } from '#server/testing/find-lemonldap.ts';
import { bringSimplesamlphp } from '#server/testing/find-simplesamlphp.ts';
import { bringOathtool } from './find-oathtool.ts';
import { bringOldChromium } from './find-old-chromium.ts';

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome', 'microsoft-edge'];
const usualPlaces = [
  '/usr/lib/chromium/chromium',
  '/snap/bin/chromium',
  '/opt/google/chrome/chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
];

/** The Chromium of this machine: the one that CHROMIUM names, else one on the PATH or in a usual place, else null. */
export function findChromium(): string | null {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  const onPath = (process.env.PATH ?? '')
    .split(delimiter)
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

function answers(path: string | null): path is string {
  return path !== null && spawnSync(path, ['--version'], { stdio: 'ignore', timeout: 30_000 }).status === 0;
}

/** Null when Chromium is here or could be brought here; else one sentence that says how to bring it. */
function bringChromium(): string | null {
  if (answers(findChromium())) return null;
  if (process.env.CHROMIUM) return `CHROMIUM names ${process.env.CHROMIUM}, which does not start.`;
  if (process.getuid?.() !== 0 || !isProgram('/usr/bin/apt-get')) {
    return 'The browser tests need Chromium: install it (Debian: apt-get install chromium) or set CHROMIUM to its path.';
  }
  try {
    const options = { stdio: 'inherit', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const;
    execFileSync('apt-get', ['update'], options);
    execFileSync('apt-get', ['install', '--yes', '--no-install-recommends', 'chromium', 'fonts-dejavu-core'], options);
  } catch {
    return 'The browser tests need Chromium, and apt-get could not install it: set CHROMIUM to the path of one.';
  }
  return answers(findChromium()) ? null : 'Chromium was installed but does not start: set CHROMIUM to the path of one.';
}

// The tests in the browser need the other programs too, and they are missing on the same machines.
if (import.meta.main) {
  const complaints = [
    bringChromium(),
    bringOathtool(),
    await bringSimplesamlphp(),
    await bringLemonldap(),
    await bringOldChromium(),
  ];
  for (const complaint of complaints) {
    if (!complaint) continue;
    console.error(complaint);
    process.exitCode = 1;
  }
}
