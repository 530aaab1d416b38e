import type { Browser as PlaywrightBrowser } from '@playwright/test';
import { chromiumVisits } from './chromium.ts';
import { findFirefox } from './find-firefox.ts';
import { findWebkit } from './find-webkit.ts';
import { startFirefox } from './firefox.ts';
import type { Browser } from './visit.ts';
import { startWebkit } from './webkit.ts';

export type Engine = 'Chromium' | 'Firefox' | 'WebKit';

/** Whether this machine has a browser of this kind. */
export function isHere(engine: Engine): boolean {
  if (engine === 'Firefox') return findFirefox() !== null;
  if (engine === 'WebKit') return findWebkit() !== null;
  return true;
}

/** Starts a browser of this kind; Chromium is started by Playwright. Throws if this machine has none. */
export async function startEngine(engine: Engine, chromium: () => Promise<PlaywrightBrowser>): Promise<Browser> {
  if (engine === 'Chromium') return chromiumVisits(await chromium());
  const firefox = engine === 'Firefox' ? findFirefox() : null;
  if (firefox) return startFirefox(firefox);
  const webkit = engine === 'WebKit' ? findWebkit() : null;
  if (webkit) return await startWebkit(webkit);
  throw new Error(`There is no ${engine} on this machine`);
}
