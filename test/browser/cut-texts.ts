import type { Page } from '@playwright/test';

/** What WCAG 2.2, 1.4.12 lets a reader set, and no less. */
export const textSpacing = `
  * { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }
  p { margin-block-end: 2em !important; }`;

/** WCAG 2.2, 1.4.4: everything is sized in rem, as a browser's own text size is. */
export const largeText = 'html { font-size: 200% !important; }';

/** Adds a reader's own style to a page, in place of an earlier one. */
export async function setReaderStyle(page: Page, css: string): Promise<void> {
  await page.evaluate(putReaderStyle, css);
}

/** Texts that are cut off, leave their box, cover another text or need sideways scrolling, one per line. */
export async function cutTexts(page: Page): Promise<string[]> {
  return await page.evaluate(findCutTexts);
}

/** Runs in the page. */
function putReaderStyle(css: string): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets = [sheet];
}

/** Runs in the page. */
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
      const isBox = box.matches('.button, .control, .alert, .fact, .codes, .column, .floor');
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
  for (const box of document.querySelectorAll<HTMLInputElement>('.code input:not([type=hidden])')) {
    const { value } = box;
    box.value = '8';
    if (box.scrollWidth > box.clientWidth) found.push(`a digit leaves ${box.id}`);
    box.value = value;
  }
  return found;
}
