import { createRequire } from 'node:module';
import { expect, type Page } from '@playwright/test';
import type axe from 'axe-core';

/** The script that looks for barriers, to be added to pages before they load. */
export const axeScript = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** What axe finds, one line each. */
async function violations(page: Page): Promise<string[]> {
  const { violations } = await page.evaluate(() => (window as unknown as { axe: typeof axe }).axe.run(document));
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** Axe finds nothing on a page, by day and by night, but for what is excepted. */
export async function expectAccessible(page: Page, except = /^$/): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const found = await violations(page);
    expect(
      found.filter((line) => !except.test(line)),
      colorScheme,
    ).toEqual([]);
  }
}
