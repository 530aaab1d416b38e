import { bringPackages } from '../../support/bring-packages.ts';
import { findProgram } from '../find-program.ts';

const whereFrom =
  'The tests in WebKitGTK need its driver and a screen for it: install them (Debian: apt-get install webkit2gtk-driver xvfb).';

/** The driver of WebKitGTK, which knows its browser, and the X server that it runs on. */
export type Webkit = { driver: string; display: string };

/** The WebKitGTK of this machine, or null. */
export function findWebkit(): Webkit | null {
  const driver = findProgram(['WebKitWebDriver'], process.env);
  const display = findProgram(['Xvfb'], process.env);
  return driver && display ? { driver, display } : null;
}

/** Null if WebKitGTK is present or could be installed; otherwise a sentence that says how to install it. */
export async function bringWebkit(): Promise<string | null> {
  return await bringPackages(['webkit2gtk-driver', 'xvfb'], () => findWebkit() !== null, whereFrom);
}
