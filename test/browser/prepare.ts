import { spawnSync } from 'node:child_process';
import { buildIfStale } from '../../build-if-stale.ts';
import { bringSimplesamlphp } from '../providers/saml-provider-for-test.ts';
import { bringPackages } from '../support/bring-packages.ts';
import { runsAll } from '../support/runs-all.ts';
import { bringFirefox, bringOldChromium, bringWebkit, findChromium } from './find-browsers.ts';

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
  ...(runsAll ? [bringOldChromium, bringFirefox, bringWebkit, bringSimplesamlphp] : []),
]) {
  const complaint = await bring();
  if (!complaint) continue;
  console.error(complaint);
  process.exitCode = 1;
}

// Before the tests, so that two portals starting at once do not both build.
await buildIfStale(['pages', 'server']);
