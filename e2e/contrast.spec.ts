import { faintParts } from './contrast.ts';
import { signInForm } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';

const schemes = ['light', 'dark'] as const;

test.describe('texts stand out from what is behind them by 7 to 1, edges of fields by 3 to 1,', () => {
  test('on a filled-in form, and on one with an error', async ({ page }) => {
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.goto('/portal/login');
      await signInForm(page).fill('ada', password);
      expect(await faintParts(page), colorScheme).toEqual([]);
      await page.goto('/portal/forgotten');
      await page.locator('#email').fill('ada');
      await page.locator('#email').blur();
      await expect(page.locator('#email-error')).toBeVisible();
      expect(await faintParts(page), colorScheme).toEqual([]);
    }
  });
});

test('a text with too little contrast is found', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto('/portal/login');
  await page.evaluate(() => document.querySelector('h1')?.style.setProperty('color', '#777'));
  expect(await faintParts(page)).toEqual([expect.stringMatching(/^text Sign in: 4\.\d\d$/)]);
});
