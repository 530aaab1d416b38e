import type { Page } from '@playwright/test';
import { languages } from '#contract/languages.ts';
import { runsAll } from '../support/runs-all.ts';
import { axeScript, expectForEveryone } from './accessibility-faults.ts';
import { comeFromOwnPage, everyScreen, withQuery } from './every-screen.ts';
import { expect, test } from './test.ts';
import { type MessageKey, texts, textsOf } from './texts.ts';

/** The first under each heading is always looked at, its other states by `npm run test:all`. */
const screens = everyScreen.filter(
  ({ heading }, at) => runsAll || everyScreen.findIndex((other) => other.heading === heading) === at,
);

// One load for all, since it takes longer than what is measured.
for (const { address, heading, shows, stage } of screens)
  test(`${address} says what it is, and is for everyone`, async ({ page, context, stages, watch }) => {
    watch.expect(/status of 404/);
    await stages.enter(context, stage);
    await comeFromOwnPage(context);
    await page.addInitScript({ path: axeScript });
    const answer = await page.goto(address);
    expect(answer?.status()).toBe(heading === 'not-found-title' ? 404 : 200);
    // Every test checks that nothing violates it (HD-07).
    const policy = answer?.headers()['content-security-policy'];
    expect(policy).toMatch(/default-src 'none'/);
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    await expect(page.getByRole('heading', { level: 1 })).toContainText(texts[heading]);
    await expect(page).toHaveTitle(`${texts[heading]} · Vestibule`);
    if (shows) await expect(page.getByText(texts[shows]).first()).toBeVisible();
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await expect(page.getByRole('main')).not.toHaveAttribute('aria-busy', 'true');
    await expect(page.locator('.qr[aria-busy=true]')).toHaveCount(0);
    await expectForEveryone(page);
    if (runsAll) await isThereInEveryLanguage(page, address, heading);
  });

test('what most people see fits their screen, in the longest languages; a reference is seen at once', async ({
  page,
  context,
  stages,
  watch,
}) => {
  watch.expect(/status of 404/);
  const fits = async () => {
    for (const [width, height] of [
      [390, 844],
      [1280, 720],
      [1440, 900],
    ] as const) {
      await page.setViewportSize({ width, height });
      expect(await page.evaluate(() => document.documentElement.scrollHeight), page.url()).toBe(height);
    }
  };
  for (const lang of ['de', 'pl'] as const) {
    await stages.enter(context, 'app');
    for (const name of ['twoFactor', 'login', 'singleSignOn', 'forgotten', 'no/such/page']) {
      await page.goto(`/portal/${name}?lang=${lang}`);
      await fits();
      if (name === 'twoFactor') await context.clearCookies();
    }
    await page.goto(`/portal/login?lang=${lang}`);
    await page.locator('#username').fill('ada');
    await page.locator('#password').fill(`wrong ${Math.random()}`);
    await page.keyboard.press('Enter');
    await expect(page.locator('.reference')).toBeVisible();
    await fits();
    await expect(page.locator('.reference')).toBeInViewport({ ratio: 1 });
  }
});

/** At a zoom of 400 %, with the words of each language. */
async function isThereInEveryLanguage(page: Page, address: string, heading: MessageKey): Promise<void> {
  await page.setViewportSize({ width: 320, height: 256 });
  for (const language of languages) {
    await page.goto(withQuery(address, `lang=${language}`));
    await expect(page.locator('html')).toHaveAttribute('lang', language);
    await expect(page.getByRole('heading', { level: 1 })).toContainText(textsOf(language)[heading]);
    await expect(page.getByRole('main')).not.toContainText(/\{\w+\}/);
    expect(await page.evaluate(() => document.documentElement.scrollWidth), language).toBeLessThanOrEqual(320);
  }
}
