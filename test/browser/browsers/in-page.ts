import type { Point } from './visit.ts';

// All are sent into pages as text: they need nothing around them, and only what the oldest browser here knows.

export type Part = { point: Point | null; isDisabled: boolean; value: string; hasFocus: boolean };

/**
 * The field, button or link with this name, or null. It has a point where it can be pressed unless it is disabled or
 * behind something else.
 */
export function findPart(kind: 'field' | 'button' | 'link', name: string): Part | null {
  const plain = (text: string | null | undefined) => (text ?? '').replace(/\s+/g, ' ').trim();
  const kinds = { field: 'input:not([type=hidden]), select', button: 'button', link: 'a[href]' };
  const part = [...document.querySelectorAll<HTMLInputElement>(kinds[kind])].find((element) => {
    const written = kind === 'field' ? element.labels?.[0]?.textContent : element.textContent;
    return element.getClientRects().length > 0 && plain(element.getAttribute('aria-label') ?? written) === name;
  });
  if (!part) return null;
  part.scrollIntoView({ block: 'center' });
  const { left, top, width, height } = part.getBoundingClientRect();
  const point = { x: Math.round(left + width / 2), y: Math.round(top + height / 2) };
  const front = document.elementFromPoint(point.x, point.y);
  const isDisabled = part.matches(':disabled');
  const isFree = !isDisabled && front !== null && part.contains(front);
  return {
    point: isFree ? point : null,
    isDisabled,
    value: part.value ?? '',
    hasFocus: document.activeElement === part,
  };
}

export type Page = {
  address: string;
  title: string;
  language: string;
  heading: string;
  text: string;
  isMarked: boolean;
  /** Whether React has taken over the menu of languages, which every screen has. */
  isScripted: boolean;
};

/** What the page shows. */
export function readPage(): Page {
  const plain = (text: string | null | undefined) => (text ?? '').replace(/\s+/g, ' ').trim();
  // To a world of its own, as Firefox gives the tests, an element has no properties that the page's scripts gave it.
  const menu = (document.querySelector('#lang') ?? {}) as { wrappedJSObject?: object };
  return {
    address: location.href,
    title: document.title,
    language: document.documentElement.lang,
    heading: plain(document.querySelector('h1')?.textContent),
    text: plain(document.body.innerText),
    isMarked: document.documentElement.hasAttribute('data-marked'),
    isScripted: Object.keys(menu.wrappedJSObject ?? menu).some((key) => key.startsWith('__react')),
  };
}

export type Marked = { address: string; heading: string };

/** Marks the document, to tell it from the one that comes next. */
export function markPage(): Marked {
  document.documentElement.setAttribute('data-marked', '');
  const heading = (document.querySelector('h1')?.textContent ?? '').replace(/\s+/g, ' ').trim();
  return { address: location.href, heading };
}
