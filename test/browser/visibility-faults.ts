import type { Page } from '@playwright/test';
import { PNG } from 'pngjs';

type Colour = readonly [number, number, number];
type Box = { x: number; y: number; width: number; height: number };
/** Something whose colour must contrast with the pixels around or behind it. */
type Part = { kind: 'text' | 'edge' | 'icon'; what: string; colour: Colour; box: Box };

/** The required minimum: WCAG 2.2, 1.4.6 for text and 1.4.11 for icons and the edges of fields. */
const least = { text: 7, edge: 3, icon: 3 };

/** A picture of a part of a page, and where in the page it begins. */
type Picture = { png: PNG; left: number; top: number };

/** Parts of a page with too little contrast, one per line. Axe cannot measure it on our backgrounds. */
export async function faintParts(page: Page): Promise<string[]> {
  const { parts, shot } = await stillPicture(page);
  return parts.flatMap(({ kind, what, colour, box }) => {
    const worst = Math.min(...[...around(shot, box, kind)].map((behind) => contrast(colour, ofPixel(behind))));
    return worst < least[kind] ? [`${kind} ${what}: ${worst.toFixed(2)}`] : [];
  });
}

/** The parts of a page and a picture of what is behind them, taken once nothing moves. */
async function stillPicture(page: Page): Promise<{ parts: Part[]; shot: Picture }> {
  const parts = await page.evaluate(partsOfPage);
  await page.evaluate(hideText);
  // Of nothing more than is measured: reading a picture takes longer than taking it.
  const clip = boxAround(parts);
  const png = PNG.sync.read(await page.screenshot({ fullPage: true, clip, animations: 'disabled' }));
  const shot = { png, left: clip.x, top: clip.y };
  await page.evaluate(() => {
    document.adoptedStyleSheets = [];
  });
  const isStill = JSON.stringify(parts) === JSON.stringify(await page.evaluate(partsOfPage));
  return isStill ? { parts, shot } : await stillPicture(page);
}

/** The box of whole pixels that holds all parts, and what is looked at around them. */
function boxAround(parts: readonly Part[]): Box {
  const [x, y] = (['x', 'y'] as const).map((axis) =>
    Math.max(0, Math.floor(Math.min(...parts.map(({ box }) => box[axis]))) - 8),
  ) as [number, number];
  const right = Math.max(...parts.map(({ box }) => box.x + box.width));
  const bottom = Math.max(...parts.map(({ box }) => box.y + box.height));
  return { x, y, width: Math.ceil(right) + 8 - x, height: Math.ceil(bottom) + 8 - y };
}

/** Runs in the page: every visible text, icon and field edge, with its colour in sRGB. */
function partsOfPage(): Part[] {
  const pen = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const inSrgb = (colour: string): Colour => {
    if (!pen) throw new Error('No canvas');
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0] = pen.getImageData(0, 0, 1, 1).data;
    return [red, green, blue];
  };
  const place = ({ x, y, width, height }: DOMRect): Box => ({ x: x + scrollX, y: y + scrollY, width, height });
  const isSeen = (element: Element) =>
    element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !element.closest('.sr, option');
  const found: Part[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    const what = walker.currentNode.textContent?.trim() ?? '';
    // Both criteria exclude disabled controls.
    if (!parent || what === '' || !isSeen(parent) || parent.closest('script, style, :disabled')) continue;
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    for (const box of range.getClientRects())
      found.push({ kind: 'text', what, colour: inSrgb(getComputedStyle(parent).color), box: place(box) });
  }
  for (const field of document.querySelectorAll('input:not([type=hidden], [type=checkbox]), select')) {
    if (!isSeen(field)) continue;
    const { x, y, width, height } = field.getBoundingClientRect();
    const inside = new DOMRect(x + 4, y + 10, width - 8, height - 20);
    found.push({ kind: 'text', what: field.id, colour: inSrgb(getComputedStyle(field).color), box: place(inside) });
  }
  for (const edge of document.querySelectorAll('.control, .code input:not([type=hidden]), .check input')) {
    // The edge of a focused or invalid field is drawn in a stronger colour.
    if (!isSeen(edge)) continue;
    const colour = inSrgb(getComputedStyle(edge).borderTopColor);
    found.push({ kind: 'edge', what: edge.className || edge.id, colour, box: place(edge.getBoundingClientRect()) });
  }
  for (const icon of document.querySelectorAll('svg')) {
    if (!isSeen(icon) || icon.closest(':disabled')) continue;
    const what = icon.parentElement?.className || icon.parentElement?.textContent || '';
    const colour = inSrgb(getComputedStyle(icon).color);
    found.push({ kind: 'icon', what, colour, box: place(icon.getBoundingClientRect()) });
  }
  return found;
}

/** Runs in the page: hides texts, leaving only what is behind them. */
function hideText(): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(
    '* { -webkit-text-fill-color: transparent !important; text-decoration-color: transparent !important; caret-color: transparent !important; }',
  );
  document.adoptedStyleSheets = [sheet];
}

/**
 * The colours behind a text, each once, as a pixel has them; for an edge, one outside it and one inside; for an icon,
 * one on either side.
 */
function around({ png, left, top }: Picture, { x, y, width, height }: Box, kind: Part['kind']): Set<number> {
  const pixels = new Set<number>();
  const take = (column: number, row: number) => {
    const [across, down] = [column - left, row - top];
    if (across < 0 || down < 0 || across >= png.width || down >= png.height) return;
    pixels.add(png.data.readUIntBE((down * png.width + across) * 4, 3));
  };
  if (kind === 'edge') {
    const middle = Math.round(x + width / 2);
    // Outside the focus ring, which is 4 px wide.
    take(middle, Math.round(y) - 6);
    take(middle, Math.round(y) + 4);
    return pixels;
  }
  if (kind === 'icon') {
    take(Math.round(x) - 2, Math.round(y + height / 2));
    take(Math.round(x + width) + 2, Math.round(y + height / 2));
    return pixels;
  }
  for (let row = Math.ceil(y); row < Math.floor(y + height); row += 1)
    for (let column = Math.ceil(x); column < Math.floor(x + width); column += 1) take(column, row);
  return pixels;
}

const ofPixel = (pixel: number): Colour => [pixel >> 16, (pixel >> 8) & 255, pixel & 255];

function contrast(one: Colour, other: Colour): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

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
