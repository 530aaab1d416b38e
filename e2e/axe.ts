import { createRequire } from 'node:module';
import { expect, type Page } from '@playwright/test';
import type axe from 'axe-core';

/** The accessibility checker's script, to be added to pages before they load. */
export const axeScript = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** What axe looks for that depends on colours. */
const ofColours = ['color-contrast', 'link-in-text-block'];

/** Axe's findings, one per line: of all its rules, or of some. */
async function violations(page: Page, rules?: string[]): Promise<string[]> {
  const { violations } = await page.evaluate(
    (runOnly) => (window as unknown as { axe: typeof axe }).axe.run(document, runOnly ? { runOnly } : {}),
    rules,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** Expects no axe findings on a page, apart from exceptions, and none of its colours in dark mode. */
export async function expectAccessible(page: Page, except = /^$/): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const found = await violations(page, colorScheme === 'dark' ? ofColours : undefined);
    expect(
      found.filter((line) => !except.test(line)),
      colorScheme,
    ).toEqual([]);
  }
}
