import { bringPackages } from '../../support/bring-packages.ts';
import { findProgram } from '../find-program.ts';

const whereFrom =
  'The tests in Firefox need it: install it (Debian: apt-get install firefox-esr) or set FIREFOX to its path.';

/** The Firefox of this machine: the one named by FIREFOX, otherwise one on the PATH or in a usual place, or null. */
export function findFirefox(): string | null {
  return (
    process.env.FIREFOX ??
    findProgram(['firefox-esr', 'firefox'], process.env, ['/Applications/Firefox.app/Contents/MacOS/firefox'])
  );
}

/** Null if Firefox is present or could be installed; otherwise a sentence that says how to install it. */
export async function bringFirefox(): Promise<string | null> {
  return await bringPackages(['firefox-esr'], () => findFirefox() !== null, whereFrom);
}
