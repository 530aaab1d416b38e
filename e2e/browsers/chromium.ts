import type { Page, Browser as PlaywrightBrowser } from '@playwright/test';
import { blockCookies } from '../no-cookies.ts';
import { type Browser, callSource, type Visit, windowSize } from './visit.ts';

/** Chromium, by Playwright, in the few ways that work in the oldest versions too. */
export function chromiumVisits(browser: PlaywrightBrowser): Browser {
  return {
    visit: async ({ javaScript, cookies = true, looks, language = 'en-GB', loads }) => {
      const context = await browser.newContext({
        javaScriptEnabled: javaScript,
        viewport: windowSize,
        locale: language,
        reducedMotion: 'reduce',
        colorScheme: looks === 'night' ? 'dark' : 'light',
        forcedColors: looks === 'contrast' ? 'active' : 'none',
      });
      if (!cookies) await blockCookies(context);
      const waitUntil = loads === 'document' ? 'domcontentloaded' : 'load';
      return visitOf(await context.newPage(), waitUntil);
    },
    close: () => browser.close(),
  };
}

function visitOf(page: Page, waitUntil: 'domcontentloaded' | 'load'): Visit {
  const faults: string[] = [];
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(String(error.stack)));
  return {
    open: async (url) => void (await page.goto(url, { waitUntil })),
    back: async () => void (await page.goBack({ waitUntil: 'commit' })),
    reload: async () => void (await page.reload()),
    call: async (work, ...args) => JSON.parse(await page.evaluate(`(${callSource(work, args)})()`)),
    click: ({ x, y }, times = 1) => page.mouse.click(x, y, { clickCount: times }),
    type: (text) => page.keyboard.type(text),
    named: (role, name) => page.getByRole(role, { name, exact: true }).count(),
    narrow: (width) => page.setViewportSize({ ...windowSize, width }),
    tab: async () => visitOf(await page.context().newPage(), waitUntil),
    picture: () => page.screenshot(),
    losesPresses: false,
    faults: () => faults,
    close: () => page.context().close(),
  };
}
