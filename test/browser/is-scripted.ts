import type { Page } from '@playwright/test';

/** Waits until React has taken over the language menu, which every screen has; on a busy machine that takes a while. */
export async function isScripted(page: Page): Promise<void> {
  await page.waitForFunction(
    () => Object.keys(document.querySelector('#lang') ?? {}).some((key) => key.startsWith('__react')),
    null,
    { timeout: 20_000 },
  );
}
