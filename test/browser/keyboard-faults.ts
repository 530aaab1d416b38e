import type { Page } from '@playwright/test';

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
