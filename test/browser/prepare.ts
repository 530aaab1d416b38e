import { spawnSync } from 'node:child_process';
import { buildIfStale } from '../../build-if-stale.ts';
import { bringSimplesamlphp } from '../providers/saml-provider-for-test.ts';
import { bringPackages } from '../support/bring-packages.ts';
import { runsAll } from '../support/runs-all.ts';
import { bringFirefox, bringOldChromium, bringWebkit, findChromium } from './find-browsers.ts';

const shell = 'chromium-headless-shell';
const fonts = 'fonts-dejavu-core';

const answers = (path: string | null) =>
  path !== null && spawnSync(path, ['--version'], { stdio: 'ignore', timeout: 30_000 }).status === 0;

/** The Chromium that CHROMIUM names, or one that is here or can be installed. */
async function bringChromium(): Promise<void> {
  const isHere = () => answers(findChromium(process.env));
  if (process.env.CHROMIUM && !isHere()) throw new Error('CHROMIUM names a program that does not start.');
  if (process.env.CHROMIUM) return;
  const isShell = () => findChromium(process.env)?.endsWith(shell) ?? false;
  // Systems without the shell have the other.
  await bringPackages([shell, fonts], isShell).catch(() => bringPackages(['chromium', fonts], isHere));
}

// One after the other, since two cannot install packages at once.
const others = [bringOldChromium, bringFirefox, bringWebkit, bringSimplesamlphp];
for (const bring of [bringChromium, ...(runsAll ? others : [])])
  await bring().catch((error) => {
    console.error(String(error));
    process.exitCode = 1;
  });

// Before the tests, so that two portals starting at once do not both build.
await buildIfStale();
