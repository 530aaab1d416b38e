import type { LaunchOptions, Browser as PlaywrightBrowser } from '@playwright/test';
import { oldChromium } from '../find-old-chromium.ts';
import { chromiumVisits } from './chromium.ts';
import { findFirefox } from './find-firefox.ts';
import { findWebkit } from './find-webkit.ts';
import { startFirefox } from './firefox.ts';
import type { Browser } from './visit.ts';
import { startWebkit } from './webkit.ts';

export type Engine = 'old Chromium' | 'Firefox' | 'WebKit';

type Launch = (options: LaunchOptions) => Promise<PlaywrightBrowser>;

/** Starts a browser of this kind; Chromium is started by Playwright. Throws if this machine has none. */
export async function startEngine(engine: Engine, launch: Launch): Promise<Browser> {
  if (engine === 'old Chromium') return chromiumVisits(await launch({ executablePath: oldChromium }));
  const firefox = engine === 'Firefox' ? findFirefox() : null;
  if (firefox) return startFirefox(firefox);
  const webkit = engine === 'WebKit' ? findWebkit() : null;
  if (webkit) return await startWebkit(webkit);
  throw new Error(`There is no ${engine} on this machine`);
}
