import type { Browser as PlaywrightBrowser } from '@playwright/test';
import { type Browser, callSource, windowSize } from './visit.ts';

/** Chromium, by Playwright, in the few ways that work in an old version too. */
export function chromiumVisits(browser: PlaywrightBrowser): Browser {
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
        click: ({ x, y }) => page.mouse.click(x, y),
        type: (text) => page.keyboard.type(text),
        losesPresses: false,
        faults: () => faults,
        close: () => context.close(),
      };
    },
    close: () => browser.close(),
  };
}
