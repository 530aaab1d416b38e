import type { Page } from '@playwright/test';

/**
 * Waits until a tab that stays open over a sign-in or sign-out elsewhere has loaded its page again by itself. Call it before
 * that: until the load, the test's own reload of the tab, or a step back in its history, can get lost.
 */
export async function loadsOnceMore(page: Page): Promise<void> {
  await page.waitForEvent('load');
}
