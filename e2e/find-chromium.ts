import { spawnSync } from 'node:child_process';
import { bringPackages } from '#testing/bring-packages.ts';
import { bringLemonldap } from '#testing/find-lemonldap.ts';
import { bringSimplesamlphp } from '#testing/find-simplesamlphp.ts';
import { bringOathtool } from './find-oathtool.ts';
import { bringOldChromium } from './find-old-chromium.ts';
import { findProgram } from './find-program.ts';

/** Headless Chromium: the same engine, with half the CPU time. */
const shell = 'chromium-headless-shell';
const fonts = 'fonts-dejavu-core';
const whereFrom =
  'The browser tests need Chromium: install it (Debian: apt-get install chromium) or set CHROMIUM to its path.';
const names = [
  shell,
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

/** The Chromium of this machine: the one named by CHROMIUM, otherwise one on the PATH or in a usual place, or null. */
export function findChromium(): string | null {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  return findProgram(names, usualPlaces);
}

function answers(path: string | null): path is string {
  return path !== null && spawnSync(path, ['--version'], { stdio: 'ignore', timeout: 30_000 }).status === 0;
}

/** Null if Chromium is present or could be installed; otherwise a sentence that says how to install it. */
async function bringChromium(): Promise<string | null> {
  const { CHROMIUM } = process.env;
  if (CHROMIUM) return answers(CHROMIUM) ? null : `CHROMIUM names ${CHROMIUM}, which does not start.`;
  const isShell = () => findChromium()?.endsWith(shell) ?? false;
  if ((await bringPackages([shell, fonts], isShell, whereFrom)) === null) return null;
  // Systems without the shell have the other.
  return await bringPackages(['chromium', fonts], () => answers(findChromium()), whereFrom);
}

// The browser tests need the other programs too, which are missing on the same machines.
if (import.meta.main) {
  const complaints = [
    await bringChromium(),
    await bringOathtool(),
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
