import type { Page } from '@playwright/test';
import { languages } from '#contract/languages.ts';
import { runsAll } from '../support/runs-all.ts';
import {
  axeScript,
  documentFaults,
  expectAccessible,
  forcedColourFaults,
  keyboardFaults,
} from './accessibility-faults.ts';
import { cutTexts, largeText, setReaderStyle, textSpacing } from './cut-texts.ts';
import { everyScreen, withQuery } from './every-screen.ts';
import { comeFromOwnPage, serverPageNames, serverPageUrl, showServerPages } from './server-pages.ts';
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
    await isForEveryone(page);
    if (runsAll) await isThereInEveryLanguage(page, address, heading);
  });

for (const name of ['signedIn', ...serverPageNames] as const)
  test(`the page ${name} is for everyone`, async ({ page, context, stages }) => {
    await page.addInitScript({ path: axeScript });
    if (name === 'signedIn') await stages.enter(context, 'signed in');
    else await showServerPages(context);
    await page.goto(name === 'signedIn' ? '/portal/portal.html' : serverPageUrl(name));
    await isForEveryone(page);
  });

async function isForEveryone(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await expect(page.getByRole('main')).toHaveAttribute('aria-busy', 'false');
  await expect(page.locator('.qr[aria-busy=true]')).toHaveCount(0);
  await test.step('axe finds nothing', async () => await expectAccessible(page));
  await test.step('fields say their purpose, and errors are read with them', async () => {
    expect(await documentFaults(page)).toEqual([]);
  });
  if (runsAll) await isSeenByEveryone(page);
  await test.step('links, buttons and fields are easy to hit, and apart on a narrow phone', async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await smallTargets(page)).toEqual([]);
    expect(await overlaps(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
  });
  await test.step('the keyboard reaches everything in reading order, seen, and gets out', async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(await keyboardFaults(page)).toEqual([]);
  });
}

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

async function isSeenByEveryone(page: Page): Promise<void> {
  await test.step('forced colours keep edges, icons and focus', async () => {
    expect(await forcedColourFaults(page)).toEqual([]);
  });
  await test.step('nothing is cut or covered on a phone, with wide spacing, or with large text', async () => {
    for (const viewport of [
      { width: 320, height: 640 },
      { width: 844, height: 390 },
    ]) {
      await page.setViewportSize(viewport);
      for (const style of [textSpacing, largeText, '']) {
        await setReaderStyle(page, style);
        expect(await cutTexts(page), `${viewport.width} px, ${style}`).toEqual([]);
      }
    }
  });
}

/** Links, buttons and fields that are less than 44 px high (a tick box: 24) or 24 px wide, except within a sentence. */
async function smallTargets(page: Page): Promise<string[]> {
  return await page.evaluate(() =>
    [...document.querySelectorAll('a, button, select, .control, .check, .code input:not([type=hidden])')].flatMap(
      (target) => {
        const { width, height } = target.getBoundingClientRect();
        const isInSentence = target.closest('.lede, .alert, .hint, li:not(.steps > li)');
        const isSmall = height > 0 && (height < (target.matches('.check') ? 24 : 43.9) || width < 24);
        return isSmall && !isInSentence ? [`${target.textContent || target.id}: ${width} × ${height}`] : [];
      },
    ),
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
