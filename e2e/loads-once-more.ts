import type { Page } from '@playwright/test';

/**
 * A tab that stays open over a sign-out elsewhere loads its page again by itself. Asked for before the sign-out: until that
 * load, a reload of the test's own, or a step back in the tab's history, can get lost.
 */
export async function loadsOnceMore(page: Page): Promise<void> {
  await page.waitForEvent('load');
}
