import type { Page } from '@playwright/test';

/** Holds a page's requests for these URLs until the returned function is called. */
export async function holdRequests(page: Page, url: string | RegExp): Promise<() => void> {
  const { promise: isLetGo, resolve: letGo } = Promise.withResolvers<void>();
  await page.route(url, async (route) => {
    await isLetGo;
    await route.continue();
  });
  return letGo;
}
