import type { Page } from '@playwright/test';
import { axeScript, expectAccessible } from './axe.ts';
import { faintParts } from './contrast.ts';
import { cutTexts, largeText, setReaderStyle, textSpacing } from './cut-texts.ts';
import { everyScreen, type ScreenUnderTest } from './every-screen.ts';
import { forcedColourFaults } from './forced-colours.ts';
import { comeFromOwnPage } from './from-own-page.ts';
import { keyboardFaults } from './keyboard-faults.ts';
import { serverPageNames, serverPageUrl, showServerPages } from './server-pages.ts';
import { expect, test } from './test.ts';
import { documentFaults, treeFaults } from './tree-faults.ts';

const schemes = ['light', 'dark'] as const;

const screens: Omit<ScreenUnderTest, 'heading'>[] = [
  ...everyScreen,
  { address: '/portal/portal.html', stage: 'signed in there' },
  ...serverPageNames.map((name) => ({ address: serverPageUrl(name) })),
];

// One load for all, since it takes longer than what is measured.
for (const [index, { address, stage, needs }] of screens.entries()) {
  test(`${address} is for everyone`, async ({ page, context, stages, watch }) => {
    if (needs) watch.expect(needs);
    await page.addInitScript({ path: axeScript });
    await stages.enter(context, stage);
    await comeFromOwnPage(context);
    if (address.includes('serverPage=')) await showServerPages(context);
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    await page.goto(address);
    await expect(page.getByRole('main')).toHaveAttribute('aria-busy', 'false');
    await expect(page.locator('.qr[aria-busy=true]')).toHaveCount(0);
    await test.step('links, buttons and fields are easy to hit', async () => {
      expect(await smallTargets(page)).toEqual([]);
    });
    await test.step('axe finds nothing', async () => {
      await expectAccessible(page);
    });
    await test.step('names, headings, landmarks and errors are in the accessibility tree', async () => {
      expect(await treeFaults(page)).toEqual([]);
      expect(await documentFaults(page)).toEqual([]);
    });
    await test.step('texts, icons and edges stand out', async () => {
      for (const colorScheme of schemes) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        expect(await faintParts(page), colorScheme).toEqual([]);
      }
      // By turns, since a picture takes time.
      const colorScheme = schemes[index % 2] as (typeof schemes)[number];
      await page.emulateMedia({ colorScheme, contrast: 'more', reducedMotion: 'reduce' });
      expect(await faintParts(page), `${colorScheme}, more contrast`).toEqual([]);
      await page.emulateMedia({ contrast: 'no-preference', reducedMotion: 'reduce' });
    });
    await test.step('forced colours keep edges, icons and focus', async () => {
      expect(await forcedColourFaults(page)).toEqual([]);
    });
    await test.step('nothing is cut or covered on a narrow phone, with wide spacing, or with large text', async () => {
      await page.setViewportSize({ width: 320, height: 640 });
      expect(await overlaps(page)).toEqual([]);
      for (const style of ['', textSpacing, largeText]) {
        await setReaderStyle(page, style);
        expect(await cutTexts(page), style).toEqual([]);
      }
      // A phone on its side.
      await page.setViewportSize({ width: 844, height: 390 });
      for (const style of [textSpacing, '']) {
        await setReaderStyle(page, style);
        expect(await cutTexts(page), `on its side, ${style}`).toEqual([]);
      }
    });
    await test.step('the keyboard reaches everything in reading order, seen, and gets out', async () => {
      expect(await keyboardFaults(page)).toEqual([]);
    });
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
