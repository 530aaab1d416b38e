import type { Page } from '@playwright/test';
import { axeScript, expectAccessible } from './axe.ts';
import { faintParts } from './contrast.ts';
import { everyScreen } from './every-screen.ts';
import { expect, test } from './test.ts';

const schemes = ['light', 'dark'] as const;

// One load for all, since it takes longer than what is measured.
for (const { address, stage, needs } of everyScreen) {
  test(`${address}: axe finds nothing, texts and edges stand out, links and buttons are easy to hit`, async ({
    page,
    context,
    stages,
    watch,
  }) => {
    if (needs) watch.expect(needs);
    await page.addInitScript({ path: axeScript });
    await stages.enter(context, stage);
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    await page.goto(address);
    await expect(page.getByRole('main')).toHaveAttribute('aria-busy', 'false');
    await expect(page.locator('.qr[aria-busy=true]')).toHaveCount(0);
    // Every link and button is at least 44 px high, except links within a sentence.
    expect(await lowTargets(page)).toEqual([]);
    await expectAccessible(page);
    // Texts stand out from what is behind them by 7 to 1, edges of fields by 3 to 1.
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      expect(await faintParts(page), colorScheme).toEqual([]);
    }
    // No link or button overlaps another one on a narrow phone, where links wrap.
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await overlaps(page)).toEqual([]);
  });
}

async function lowTargets(page: Page): Promise<string[]> {
  return await page.evaluate(() =>
    [...document.querySelectorAll('a, button, select')].flatMap((target) => {
      const { height } = target.getBoundingClientRect();
      const isInSentence = target.closest('.lede, .alert, .hint, li');
      return height > 0 && height < 43.9 && !isInSentence ? [`${target.textContent}: ${height}`] : [];
    }),
  );
}

async function overlaps(page: Page): Promise<string[]> {
  return await page.evaluate(() => {
    const targets = [...document.querySelectorAll('main :is(a, button)')].filter(
      (target) => !target.closest('.lede, .alert, .hint, li') && target.getBoundingClientRect().height > 0,
    );
    return targets.flatMap((target, at) =>
      targets.slice(at + 1).flatMap((other) => {
        const [one, two] = [target.getBoundingClientRect(), other.getBoundingClientRect()];
        const high = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
        const wide = Math.min(one.right, two.right) - Math.max(one.left, two.left);
        return high > 0.5 && wide > 0.5 ? [`${target.textContent} and ${other.textContent}: ${high} px`] : [];
      }),
    );
  });
}
