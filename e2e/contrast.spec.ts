import { faintParts } from './contrast.ts';
import { everyScreen } from './every-screen.ts';
import { signInForm } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';

const schemes = ['light', 'dark'] as const;

test.describe('texts stand out from what is behind them by 7 to 1, edges of fields by 3 to 1,', () => {
  test.beforeEach(({ watch }) => watch.expect(/status of 404/, /Two-factor code not/));

  // Split, so that two workers share them.
  for (const part of [0, 1, 2, 3])
    test(`on every screen in light and dark mode, part ${part + 1} of 4`, async ({ page, context, stages }) => {
      test.setTimeout(90_000);
      for (const { address, stage } of everyScreen.filter((_screen, index) => index % 4 === part)) {
        await stages.enter(context, stage);
        await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
        await page.goto(address);
        await expect(page.getByRole('main')).toHaveAttribute('aria-busy', 'false');
        await expect(page.locator('.qr[aria-busy=true]')).toHaveCount(0);
        for (const colorScheme of schemes) {
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
          expect(await faintParts(page), `${address}, ${colorScheme}`).toEqual([]);
        }
      }
    });

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
