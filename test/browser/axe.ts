import { createRequire } from 'node:module';
import { expect, type Page } from '@playwright/test';
import type axe from 'axe-core';

/** The accessibility checker's script, to be added to pages before they load. */
export const axeScript = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Axe's findings, one per line. */
async function violations(page: Page): Promise<string[]> {
  const { violations } = await page.evaluate(() => (window as unknown as { axe: typeof axe }).axe.run(document));
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** Expects no axe findings on a page, in light and dark mode, apart from exceptions. */
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
