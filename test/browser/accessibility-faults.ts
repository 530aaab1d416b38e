import { createRequire } from 'node:module';
import { expect, type Page } from '@playwright/test';
import type axe from 'axe-core';
import { textsOf } from './texts.ts';

/** The accessibility checker's script, to be added to pages before they load. */
export const axeScript = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Axe's findings, one per line. */
async function violations(page: Page): Promise<string[]> {
  const { violations } = await page.evaluate(() => (window as unknown as { axe: typeof axe }).axe.run(document));
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** Expects no axe findings on a page, in light and dark mode, apart from exceptions. */
export async function expectAccessible(page: Page, except = /^$/): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const found = await violations(page);
    expect(
      found.filter((line) => !except.test(line)),
      colorScheme,
    ).toEqual([]);
  }
}

/** What the document itself gets wrong that no checker looks for, one per line. */
export async function documentFaults(page: Page): Promise<string[]> {
  return await page.evaluate(findDocumentFaults, frameInEnglish);
}

const { tagline, support, imprint } = textsOf('en');
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
    const seen = control.matches('a, button') ? control.innerText.trim() : '';
    if (!control.getAttribute('aria-label')?.includes(seen)) faults.push(`${seen} is not in its name`);
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
export async function keyboardFaults(page: Page): Promise<string[]> {
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
export async function forcedColourFaults(page: Page): Promise<string[]> {
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
  const named = (element: Element) => element.id || element.textContent || element.getAttribute('class') || '';
  const canvas = getComputedStyle(document.body).backgroundColor;
  const faults: string[] = [];
  for (const part of seen('.button, .control, .code input:not([type=hidden])')) {
    const { borderTopWidth, borderTopStyle, borderTopColor } = getComputedStyle(part);
    if (borderTopWidth === '0px' || borderTopStyle === 'none' || borderTopColor === canvas)
      faults.push(`${named(part)} has no edge`);
  }
  for (const icon of seen('svg')) {
    const around = icon.parentElement as Element;
    if (getComputedStyle(icon).color !== getComputedStyle(around).color)
      faults.push(`the icon in ${named(around)} keeps the colour of the brand`);
  }
  for (const wrong of seen('[aria-invalid=true]')) {
    const { outlineStyle, outlineWidth } = getComputedStyle(wrong.closest('.control') ?? wrong);
    if (outlineStyle === 'none' || outlineWidth === '0px') faults.push(`${named(wrong)} does not look wrong`);
  }
  const focused = document.querySelector('input:focus');
  if (focused) {
    const { outlineStyle, outlineWidth } = getComputedStyle(focused.closest('.control') ?? focused);
    if (outlineStyle === 'none' || Number.parseFloat(outlineWidth) < 2)
      faults.push(`${named(focused)} hides the focus`);
  }
  return faults;
}
