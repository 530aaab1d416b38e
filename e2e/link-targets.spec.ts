import { codeForm } from './code-form.ts';
import { everyScreen } from './every-screen.ts';
import { expect, test } from './test.ts';
import { textsOf } from './texts.ts';

const texts = textsOf('en');

test('every link and button is at least 44 px high, except links within a sentence', async ({
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

test('no link or button overlaps another one on a narrow phone, where links wrap', async ({
  page,
  context,
  stages,
  watch,
}) => {
  test.setTimeout(90_000);
  watch.expect(/status of 404/);
  await page.setViewportSize({ width: 320, height: 640 });
  for (const { address, stage } of everyScreen) {
    await stages.enter(context, stage);
    await page.goto(address);
    const overlaps = await page.evaluate(() => {
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
    expect.soft(overlaps, address).toEqual([]);
  }
});

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
