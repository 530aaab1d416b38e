import type { Page } from '@playwright/test';
import { expect } from './test.ts';

/** Goes back to a post that nobody answered, which the browser kept in the history of its tab, and sends it again. */
export async function sendAgainFromHistory(page: Page, path: string): Promise<void> {
  const browser = await page.context().newCDPSession(page);
  const { entries } = await browser.send('Page.getNavigationHistory');
  const failed = entries.find(({ url }) => url.includes(path));
  await browser.send('Page.navigateToHistoryEntry', { entryId: failed?.id ?? -1 });
  // The history names the entry at once; until the browser's own page is there, the page before would be loaded again.
  await expect(async () => {
    const { frame } = (await browser.send('Page.getFrameTree')).frameTree;
    expect(frame.unreachableUrl).toContain(path);
    await browser.send('Page.reload');
  }).toPass();
}
