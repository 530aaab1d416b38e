import type { Page } from '@playwright/test';

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
