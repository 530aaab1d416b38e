import type { BrowserContext } from '@playwright/test';

/** Opens addresses with a notice of the account page as if our own page had led there: it shows none to anybody else. */
export async function comeFromOwnPage(context: BrowserContext): Promise<void> {
  await context.route(/\/portal\/account\b.*[?&]notice=/, async (route) => {
    const headers = { ...(await route.request().allHeaders()), 'sec-fetch-site': 'same-origin' };
    await route.fulfill({ response: await route.fetch({ headers }) });
  });
}
