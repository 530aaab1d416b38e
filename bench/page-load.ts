import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { browserOptions } from '#test/browser/browser-options.ts';

/** What a visitor with an empty cache waits for: times in ms since the page was asked for, sizes in bytes on the wire. */
export type PageLoad = {
  firstPaint: number;
  /** When the first field can be seen and typed into. */
  firstField: number;
  /** When React has taken over the first field; null without it. */
  hydrated: number | null;
  /** How long tasks of more than 50 ms kept the page from answering, beyond those 50 ms each. */
  blocking: number;
  /** Until the page has been hydrated, or loaded if it never is. */
  bytes: number;
  requests: number;
};

/** Lighthouse's slow 4G: 150 ms round trips, 1.6 Mbit/s down, 750 kbit/s up, and a processor four times as slow. */
const slowLine = { offline: false, latency: 150, downloadThroughput: 1.6e6 / 8, uploadThroughput: 750e3 / 8 };
const slowProcessor = { rate: 4 };

/** Opens a page in a new browser with an empty cache, on a slow line. */
export async function loadPage(url: string): Promise<PageLoad> {
  const profile = await mkdtemp(join(tmpdir(), 'vestibule-page-'));
  const context = await chromium.launchPersistentContext(profile, {
    ...browserOptions.launchOptions,
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
  });
  try {
    const page = context.pages()[0] ?? (await context.newPage());
    const session = await context.newCDPSession(page);
    const received: { at: number; bytes: number }[] = [];
    await session.send('Network.enable');
    session.on('Network.loadingFinished', ({ timestamp, encodedDataLength }) =>
      received.push({ at: timestamp * 1000, bytes: encodedDataLength }),
    );
    let asked = 0;
    session.on('Network.requestWillBeSent', ({ timestamp }) => {
      asked ||= timestamp * 1000;
    });
    await session.send('Network.emulateNetworkConditions', slowLine);
    await session.send('Emulation.setCPUThrottlingRate', slowProcessor);
    await page.addInitScript(watchFirstField);
    await page.goto(url, { waitUntil: 'load' });
    const seen = await seenBy(page);
    const until = asked + Math.max(seen.hydrated ?? 0, seen.loaded);
    const before = received.filter(({ at }) => at <= until);
    return {
      firstPaint: seen.firstPaint,
      firstField: Math.max(seen.firstField, seen.firstPaint),
      hydrated: seen.hydrated,
      blocking: seen.blocking,
      bytes: before.reduce((sum, { bytes }) => sum + bytes, 0),
      requests: before.length,
    };
  } finally {
    await context.close();
    await rm(profile, { recursive: true, force: true });
  }
}

type Seen = { firstPaint: number; firstField: number; hydrated: number | null; blocking: number; loaded: number };

/** What the page has noted of itself once it has been quiet for a while. */
async function seenBy(page: Page): Promise<Seen> {
  await page.waitForFunction(() => (globalThis as unknown as { seen?: Seen }).seen?.firstField);
  await page.waitForTimeout(1500);
  return await page.evaluate(() => {
    const { seen } = globalThis as unknown as { seen: Seen };
    const [paint] = performance.getEntriesByName('first-contentful-paint');
    const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
    return { ...seen, firstPaint: paint?.startTime ?? Number.NaN, loaded: navigation?.loadEventEnd ?? Number.NaN };
  });
}

/** Runs in the page, before its own script: looks in every frame whether the first field is there, and whose it is. */
function watchFirstField(): void {
  const seen = { firstField: 0, hydrated: null as number | null, blocking: 0 };
  Object.assign(globalThis, { seen });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) seen.blocking += duration - 50;
  }).observe({ type: 'longtask', buffered: true });
  const look = () => {
    const field = document.querySelector('input:not([type=hidden])');
    if (field && !seen.firstField && field.getBoundingClientRect().height > 0) {
      // The frame is painted next; the task after it is the first in which a person can use the field.
      const afterPaint = new MessageChannel();
      afterPaint.port1.onmessage = () => {
        seen.firstField ||= performance.now();
      };
      afterPaint.port2.postMessage(null);
    }
    if (field && seen.hydrated === null && Object.keys(field).some((key) => key.startsWith('__reactFiber')))
      seen.hydrated = performance.now();
    if (seen.hydrated === null) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}
