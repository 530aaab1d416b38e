import { codeForm } from './code-form.ts';
import { everyScreen } from './every-screen.ts';
import { expect, test } from './test.ts';
import { textsOf } from './texts.ts';

const texts = textsOf('en');

test('every link and button is 44 px high or more, but for links within a sentence', async ({
  page,
  context,
  stages,
  watch,
}) => {
  test.setTimeout(90_000);
  watch.expect(/status of 404/);
  for (const { address, stage } of everyScreen) {
    await stages.enter(context, stage);
    await page.goto(address);
    const low = await page.evaluate(() =>
      [...document.querySelectorAll('a, button, select')].flatMap((target) => {
        const { height } = target.getBoundingClientRect();
        const isInSentence = target.closest('.lede, .alert, .hint, li');
        return height > 0 && height < 43.9 && !isInSentence ? [`${target.textContent}: ${height}`] : [];
      }),
    );
    expect(low, address).toEqual([]);
  }
});

test('links side by side stand on one line', async ({ page, context, stages }) => {
  await stages.enter(context, 'app');
  await page.goto('/portal/twoFactor');
  await expect(codeForm(page).box(1)).toBeVisible();
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
