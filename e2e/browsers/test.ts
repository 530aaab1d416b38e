import { test as base, expect } from '../test.ts';
import { Watch } from '../watch.ts';
import { type Engine, startEngine } from './engines.ts';
import type { Browser } from './visit.ts';
import { Visitor } from './visitor.ts';

export { expect, password } from '../test.ts';

type TestFixtures = {
  /** A person before a browser with JavaScript. */
  visitor: Visitor;
  visitorWithoutScript: Visitor;
};

type WorkerFixtures = {
  /** Which browser the project is for. */
  engine: Engine;
  browserUnderTest: Browser;
};

/** Tests that run in any browser, and therefore use none of Playwright's pages. */
export const test = base.extend<TestFixtures, WorkerFixtures>({
  engine: ['Chromium', { option: true, scope: 'worker' }],
  browserUnderTest: [
    async ({ engine, playwright, launchOptions }, use) => {
      const browser = await startEngine(engine, () => playwright.chromium.launch(launchOptions));
      await use(browser);
      await browser.close();
    },
    { scope: 'worker', timeout: 60_000 },
  ],
  // The one of the other tests starts Chromium.
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the pattern to know what the fixture needs
  watch: async ({}, use) => {
    const watch = new Watch([]);
    await use(watch);
    expect(watch.faults, 'errors in the pages').toEqual([]);
  },
  visitor: async ({ browserUnderTest, portal, watch }, use) => {
    const visit = await browserUnderTest.visit({ javaScript: true });
    await use(new Visitor(visit, portal.origin));
    await visit.close();
    for (const fault of visit.faults()) watch.add(fault);
  },
  visitorWithoutScript: async ({ browserUnderTest, portal }, use) => {
    const visit = await browserUnderTest.visit({ javaScript: false });
    await use(new Visitor(visit, portal.origin));
    await visit.close();
  },
});
