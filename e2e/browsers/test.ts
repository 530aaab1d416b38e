import { test as base, expect } from '../test.ts';
import { Watch } from '../watch.ts';
import { Line } from './line.ts';
import type { Visit, VisitOptions } from './visit.ts';
import { Visitor } from './visitor.ts';

export { expect, password } from '../test.ts';

type TestFixtures = {
  /** A person before a browser with JavaScript. */
  visitor: Visitor;
  visitorWithoutScript: Visitor;
  /** A line to the portal, for what a test does on the way. */
  line: Line;
  /** A person at the other end of the line. */
  onLine: (options?: Partial<VisitOptions>) => Promise<Visitor>;
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
  line: async ({ portal }, use) => {
    const line = await Line.start(portal.origin);
    await use(line);
    line.close();
  },
  onLine: async ({ browserUnderTest, line, watch }, use) => {
    const visits: Visit[] = [];
    await use(async (options) => {
      const visit = await browserUnderTest.visit({ javaScript: true, ...options });
      visits.push(visit);
      return new Visitor(visit, line.origin);
    });
    for (const visit of visits) {
      await visit.close();
      for (const fault of visit.faults()) watch.add(fault);
    }
    for (const fault of line.faults) watch.add(fault);
  },
});
