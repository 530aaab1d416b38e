import type { LaunchOptions, Browser as PlaywrightBrowser } from '@playwright/test';
import { findFirefox, findWebkit, oldChromium } from '../find-browsers.ts';
import { startFirefox } from './firefox.ts';
import { type Browser, callSource, windowSize } from './visit.ts';
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

/** Chromium, by Playwright, in the few ways that work in an old version too. */
function chromiumVisits(browser: PlaywrightBrowser): Browser {
  return {
    visit: async ({ javaScript }) => {
      const context = await browser.newContext({
        javaScriptEnabled: javaScript,
        viewport: windowSize,
        locale: 'en-GB',
        reducedMotion: 'reduce',
      });
      const page = await context.newPage();
      const faults: string[] = [];
      page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
      page.on('pageerror', (error) => faults.push(String(error.stack)));
      return {
        open: async (url) => void (await page.goto(url)),
        back: async () => void (await page.goBack({ waitUntil: 'commit' })),
        reload: async () => void (await page.reload()),
        call: async (work, ...args) => JSON.parse(await page.evaluate(`(${callSource(work, args)})()`)),
        type: (text) => page.keyboard.type(text),
        faults: () => faults,
        close: () => context.close(),
      };
    },
    close: () => browser.close(),
  };
}
