import { test as base, expect } from '../test.ts';
import { Watch } from '../watch.ts';
import { Visitor } from './visitor.ts';

export { expect, password } from '../test.ts';

type TestFixtures = {
  /** A person before a browser with JavaScript. */
  visitor: Visitor;
  visitorWithoutScript: Visitor;
};

/** Tests that run in any browser, and therefore use none of Playwright's pages. */
export const test = base.extend<TestFixtures>({
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
