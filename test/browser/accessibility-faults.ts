import { createRequire } from 'node:module';
import { expect, type Page } from '@playwright/test';
import type axe from 'axe-core';
import { runsAll } from '../support/runs-all.ts';
import { texts } from './texts.ts';

/** The accessibility checker's script, to be added to pages before they load. */
export const axeScript = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Expects that axe finds nothing on a page, in light and dark mode, apart from exceptions. */
export async function expectAccessible(page: Page, except = /^$/): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const { violations } = await page.evaluate(() => (window as unknown as { axe: typeof axe }).axe.run(document));
    const found = violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    );
    const faults = found.filter((line) => !except.test(line));
    expect(faults, colorScheme).toEqual([]);
  }
}

/** What WCAG 2.2, 1.4.12 lets a reader set, and no less. */
const textSpacing = `
  * { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }
  p { margin-block-end: 2em !important; }`;

/** WCAG 2.2, 1.4.4: everything is sized in rem, as a browser's own text size is. */
const largeText = 'html { font-size: 200% !important; }';

/**
 * Expects that a page is for everyone: nothing for axe, purposes and errors told, nothing cut or small on a narrow phone, and
 * all of it reached by the keyboard in reading order; on every run of `npm run test:all` also in a reader's own colours and text.
 */
export async function expectForEveryone(page: Page): Promise<void> {
  await expectAccessible(page);
  expect(await page.evaluate(findDocumentFaults, frameInEnglish)).toEqual([]);
  if (runsAll) expect(await forcedColourFaults(page)).toEqual([]);
  for (const viewport of [
    { width: 320, height: 640 },
    { width: 844, height: 390 },
  ]) {
    await page.setViewportSize(viewport);
    for (const style of runsAll ? [textSpacing, largeText, ''] : ['']) {
      await page.evaluate(setReaderStyle, style);
      expect(await page.evaluate(findCutTexts), `${viewport.width} px, ${style}`).toEqual([]);
    }
    expect(await page.evaluate(findSmallTargets)).toEqual([]);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(await keyboardFaults(page)).toEqual([]);
}

const { tagline, support, imprint } = texts;
/** The links and the menu of the footer. */
const frameInEnglish = [tagline, support, imprint, 'lang'].join();

/** Runs in the page. */
function findDocumentFaults(frameWanted: string): string[] {
  const faults: string[] = [];
  const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)];
  for (const { outerHTML } of all(
    '[title], [accesskey], [tabindex]:not([tabindex="-1"], [tabindex="0"]), video, audio',
  ))
    faults.push(`not expected: ${outerHTML}`);
  // WCAG 2.2, 1.3.5; no token exists for a recovery code, or for the name of a thing.
  for (const input of all('input:not([type=hidden], [type=checkbox])')) {
    const token = input.getAttribute('autocomplete') ?? '';
    const isKnown = /^(?:username(?: webauthn)?|email|current-password|new-password|one-time-code)$/.test(token);
    const isWithout = token === 'off' && /^(?:code-[2-6]|recovery-code|name)$/.test(input.id);
    if (!isKnown && !isWithout) faults.push(`the purpose of ${input.id} is not told: ${token}`);
  }
  // A name that is spoken contains the words that are seen (2.5.3).
  for (const control of all('[aria-label]')) {
    const seen = control.matches('a, button') ? control.innerText.trim().toLowerCase() : '';
    if (!control.getAttribute('aria-label')?.toLowerCase().includes(seen)) faults.push(`${seen} is not in its name`);
  }
  for (const option of all('#lang option')) if (!option.lang) faults.push(`${option.textContent} has no language`);
  // What is wrong with an entry is read with the field (3.3.1).
  for (const error of all('.error')) {
    const id = error.id || error.parentElement?.id;
    if (!document.querySelector(`[aria-invalid=true][aria-describedby~="${id}"]`)) faults.push(`${id} has no field`);
  }
  // Help is at the same place on every screen (3.2.6), as is everything else of the frame (3.2.3).
  const frame = all('.floor a, .floor select').map((part) => (part.id === 'lang' ? 'lang' : part.textContent));
  if (frame.join() !== frameWanted) faults.push(`footer: ${frame}`);
  // Nothing moves for those who want that, except for light that fades.
  for (const animation of document.getAnimations()) {
    const { animationName } = animation as CSSAnimation;
    if (!['breathe', 'wake', 'appear'].includes(animationName)) faults.push(`moves: ${animationName}`);
  }
  return faults;
}

/** Where the focus is: the number of the stop in reading order, and what is wrong with how it shows. */
type Stop = { at: number; fault: string | null };

/**
 * Walks through a page with Tab and says what is wrong: a control that is left out or comes in another order than it is
 * read, a focus that isn't seen or is covered, a control that the focus does not leave. One per line.
 */
async function keyboardFaults(page: Page): Promise<string[]> {
  const names = await page.evaluate(startAtTop);
  const found: string[] = [];
  for (const [place, name] of names.entries()) {
    await page.keyboard.press('Tab');
    const { at, fault } = await page.evaluate(stopOf);
    if (at !== place) return [...found, `Tab ${place + 1} reaches ${names[at] ?? 'nothing'}, not ${name}`];
    if (fault) found.push(`${name} ${fault}`);
  }
  await page.keyboard.press('Tab');
  const { at } = await page.evaluate(stopOf);
  if (at > 0) found.push(`the focus stays in the page, on ${names[at]}`);
  return found;
}

type Marked = { stops: Element[] };

/** Runs in the page: puts the starting point before everything; returns the names of all stops, in reading order. */
function startAtTop(): string[] {
  const stops = [
    ...document.querySelectorAll<HTMLElement>('a[href], button, input, select, summary, [tabindex]'),
  ].filter(
    (element) =>
      element.tabIndex >= 0 &&
      !element.matches(':disabled, [type=hidden]') &&
      element.checkVisibility({ visibilityProperty: true }),
  );
  (window as unknown as Marked).stops = stops;
  const start = document.createElement('i');
  start.tabIndex = -1;
  document.body.prepend(start);
  start.focus();
  start.remove();
  return stops.map((stop) => stop.getAttribute('aria-label') ?? (stop.textContent || stop.id));
}

/** Runs in the page. */
function stopOf(): Stop {
  const element = document.activeElement as HTMLElement;
  const at = (window as unknown as Marked).stops.indexOf(element);
  if (at < 0) return { at, fault: null };
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  const control = element.closest('.control') ?? element;
  const isRinged = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2;
  if (!isRinged && getComputedStyle(control).boxShadow === 'none') return { at, fault: 'does not show the focus' };
  // A link that wraps has several boxes.
  const [box = new DOMRect()] = element.getClientRects();
  const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  const isOnTop = top !== null && (element.contains(top) || top.contains(element));
  return { at, fault: isOnTop ? null : 'is covered or out of sight' };
}

/** What a reader's own colours (`forced-colors: active`) would take away from a page, one per line. */
async function forcedColourFaults(page: Page): Promise<string[]> {
  await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' });
  const found = await page.evaluate(findForcedColourFaults);
  await page.emulateMedia({ forcedColors: 'none', reducedMotion: 'reduce' });
  return found;
}

/** Runs in the page, while colours are forced. */
function findForcedColourFaults(): string[] {
  const seen = (selector: string) =>
    [...document.querySelectorAll(selector)].filter((element) =>
      element.checkVisibility({ visibilityProperty: true, opacityProperty: true }),
    );
  const named = (element: Element) => element.id || element.textContent;
  const canvas = getComputedStyle(document.body).backgroundColor;
  const faults: string[] = [];
  for (const part of seen('.button, .control, .code input:not([type=hidden])')) {
    const { borderTopWidth, borderTopStyle, borderTopColor } = getComputedStyle(part);
    if (borderTopWidth === '0px' || borderTopStyle === 'none' || borderTopColor === canvas)
      faults.push(`${named(part)} has no edge`);
  }
  for (const wrong of seen('[aria-invalid=true]')) {
    const { outlineStyle, outlineWidth } = getComputedStyle(wrong.closest('.control') ?? wrong);
    if (outlineStyle === 'none' || outlineWidth === '0px') faults.push(`${named(wrong)} does not look wrong`);
  }
  return faults;
}

/** Adds a reader's own style to a page, in place of an earlier one. Runs in the page. */
function setReaderStyle(css: string): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets = [sheet];
}

/** Texts that are cut off, leave their box, cover another text or need sideways scrolling, one per line. Runs in the page. */
function findCutTexts(): string[] {
  type Text = { what: string; parent: Element; boxes: DOMRect[] };
  const texts: Text[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    const what = walker.currentNode.textContent?.trim() ?? '';
    if (!parent || what === '' || parent.closest('script, style, noscript, .sr, option')) continue;
    if (!parent.checkVisibility({ visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    texts.push({ what, parent, boxes: [...range.getClientRects()] });
  }
  const found: string[] = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) found.push(`the page scrolls sideways: ${scrollWidth} of ${clientWidth} px`);
  for (const { what, parent, boxes } of texts) {
    for (let box: Element | null = parent; box; box = box.parentElement) {
      const isBox = box.matches('.button, .control, .alert, .fact, .codes, .door, .floor');
      if (!isBox && getComputedStyle(box).overflow === 'visible') continue;
      const { left, right, top, bottom } = box.getBoundingClientRect();
      const leaves = boxes.some((text) => text.left < left - 1 || text.right > right + 1);
      // The letters of a line may be taller than the line.
      const sticksOut = boxes.some((text) => text.top < top - 4 || text.bottom > bottom + 4);
      if (leaves || sticksOut) found.push(`${what} leaves ${box.className || box.tagName}`);
    }
  }
  for (const [at, one] of texts.entries()) {
    for (const other of texts.slice(at + 1)) {
      const cover = one.boxes.some((a) =>
        other.boxes.some((b) => {
          const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
          const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
          return wide > 1 && high > Math.min(a.height, b.height) * 0.3;
        }),
      );
      if (cover) found.push(`${one.what} covers ${other.what}`);
    }
  }
  return found;
}

/** Links, buttons and fields that are less than 44 px high (a tick box: 24) or 24 px wide, except within a sentence. Runs in the page. */
function findSmallTargets(): string[] {
  const targets = document.querySelectorAll('a, button, select, .control, .check, .code input:not([type=hidden])');
  return [...targets].flatMap((target) => {
    const { width, height } = (target.closest('.control') ?? target).getBoundingClientRect();
    const isInSentence = target.closest('.lede, .alert, .hint, li:not(.steps > li)');
    const isSmall = height > 0 && (height < (target.matches('.check') ? 24 : 43.9) || width < 24);
    return isSmall && !isInSentence ? [`${target.textContent || target.id}: ${width} × ${height}`] : [];
  });
}
