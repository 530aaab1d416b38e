import { codeForm } from './code-form.ts';
import { expect, test } from './test.ts';
import { textsOf } from './texts.ts';

const texts = textsOf('en');

test('links keep a distance from the text above them', async ({ page, context, stages }) => {
  await stages.enter(context, 'elsewhere without password');
  await page.goto('/portal/twoFactorRegistration');
  const text = await page.locator('.lede').boundingBox();
  const link = page.getByRole('main').getByRole('link', { name: texts.cancel, exact: true });
  const top = await link.evaluate((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return range.getBoundingClientRect().top;
  });
  expect(top - (text?.y ?? 0) - (text?.height ?? 0)).toBeGreaterThan(16);
});

test('links side by side are on one line', async ({ page, context, stages }) => {
  await stages.enter(context, 'app');
  await page.goto('/portal/twoFactor');
  await expect(codeForm(page).box(1)).toBeVisible();
  // A line that is long enough for both.
  await page.locator('p.links').evaluate((line) => {
    line.style.width = 'max-content';
  });
  const tops = await Promise.all(
    [texts['twofa-use-recovery'], texts['twofa-change-user']].map((name) =>
      page.getByRole('link', { name, exact: true }).evaluate((link) => {
        const range = document.createRange();
        range.selectNodeContents(link);
        return range.getBoundingClientRect().top;
      }),
    ),
  );
  expect(tops[0]).toBe(tops[1]);
});
