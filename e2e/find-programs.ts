import { spawnSync } from 'node:child_process';
import { bringPackages } from '#testing/bring-packages.ts';
import { bringLemonldap } from '#testing/find-lemonldap.ts';
import { bringSimplesamlphp } from '#testing/find-simplesamlphp.ts';
import { runsAll } from '#testing/runs-all.ts';
import { bringFirefox } from './browsers/find-firefox.ts';
import { bringWebkit } from './browsers/find-webkit.ts';
import { bringOldChromium } from './find-old-chromium.ts';
import { findProgram, isProgram } from './find-program.ts';

/** Headless Chromium first: the same engine, with half the CPU time. */
const names = [
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
  return findProgram(names, env, usualPlaces);
}

const shell = 'chromium-headless-shell';
const fonts = 'fonts-dejavu-core';
const whereFrom =
  'The browser tests need Chromium: install it (Debian: apt-get install chromium) or set CHROMIUM to its path.';

function answers(path: string | null): path is string {
  return path !== null && spawnSync(path, ['--version'], { stdio: 'ignore', timeout: 30_000 }).status === 0;
}

/** Null if Chromium is present or could be installed; otherwise a sentence that says how to install it. */
async function bringChromium(): Promise<string | null> {
  const { CHROMIUM } = process.env;
  if (CHROMIUM) return answers(CHROMIUM) ? null : `CHROMIUM names ${CHROMIUM}, which does not start.`;
  const isShell = () => findChromium(process.env)?.endsWith(shell) ?? false;
  if ((await bringPackages([shell, fonts], isShell, whereFrom)) === null) return null;
  // Systems without the shell have the other.
  return await bringPackages(['chromium', fonts], () => answers(findChromium(process.env)), whereFrom);
}

// One after the other, since two cannot install packages at once.
for (const bring of [
  bringChromium,
  ...(runsAll ? [bringOldChromium, bringFirefox, bringWebkit, bringSimplesamlphp, bringLemonldap] : []),
]) {
  const complaint = await bring();
  if (!complaint) continue;
  console.error(complaint);
  process.exitCode = 1;
}
