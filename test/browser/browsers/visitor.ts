import { expect, test } from '@playwright/test';
import type { Point, Visit } from './visit.ts';

// A busy machine may need long; what is already there is not waited for.
const patience = { timeout: 15_000, intervals: [30, 50, 100, 200] };

/** A person before a browser: finds things by their names, and waits until they are there. */
export class Visitor {
  readonly #visit: Visit;
  readonly #origin: string;

  constructor(visit: Visit, origin: string) {
    this.#visit = visit;
    this.#origin = origin;
  }

  async open(address: string): Promise<void> {
    await this.#visit.open(new URL(address, this.#origin).href);
  }

  /** Goes back in the history and waits until another page is there. */
  async back(): Promise<void> {
    const left = await this.#visit.call(markPage);
    await this.#visit.back();
    await expect.poll(() => this.#hasLeft(left), patience).toBe(true);
  }

  async reload(): Promise<void> {
    await this.#visit.reload();
  }

  async press(kind: 'button' | 'link', name: string): Promise<void> {
    const point = await this.#waitForPoint(kind, name);
    if (kind === 'button' || !this.#visit.losesPresses) return await this.#visit.click(point);
    const left = await this.#visit.call(markPage);
    await this.#visit.click(point);
    const leaves = { ...patience, timeout: 5_000, message: `another page after the link “${name}”` };
    try {
      await expect.poll(() => this.#hasLeft(left), leaves).toBe(true);
    } catch {
      test.info().annotations.push({ type: 'pressed again', description: name });
      await this.#visit.click(await this.#waitForPoint(kind, name));
    }
  }

  /** Replaces what is in a field. */
  async fill(label: string, text: string): Promise<void> {
    const hasFocus = async () => {
      await this.#visit.click(await this.#waitForPoint('field', label));
      return (await this.#part('field', label))?.hasFocus;
    };
    await expect.poll(hasFocus, patience).toBe(true);
    await this.#visit.call(() => (document.activeElement as HTMLInputElement).select());
    await this.#visit.type(text);
    await expect.poll(async () => (await this.#part('field', label))?.value, patience).toBe(text);
  }

  /** Types where the focus is; `\n` is Enter. */
  async type(text: string): Promise<void> {
    await this.#visit.type(text);
  }

  /** Chooses from the page's only list, with the keyboard: its menu is no part of the page. */
  async choose(label: string, option: string): Promise<void> {
    await this.#waitForPoint('field', label);
    await this.#visit.call(() => document.querySelector('select')?.focus());
    await this.#visit.type(option);
  }

  /** Waits until a page has this heading, and returns what else it shows. */
  async sees(heading: string): Promise<Page> {
    const page: { last: Page | null } = { last: null };
    await expect
      .poll(async () => {
        page.last = await this.#read();
        return page.last?.heading;
      }, patience)
      .toBe(plain(heading));
    return page.last as Page;
  }

  /** Waits until the script has taken over the page. */
  async isScripted(): Promise<void> {
    await expect.poll(async () => (await this.#read())?.isScripted, patience).toBe(true);
  }

  async seesText(text: string): Promise<void> {
    await expect.poll(async () => (await this.#read())?.text, patience).toContain(plain(text));
  }

  /** Waits until the address, without the portal's origin, is this one. */
  async isAt(address: string): Promise<void> {
    await expect.poll(async () => (await this.#read())?.address.replace(this.#origin, ''), patience).toBe(address);
  }

  async expectLanguage(language: string): Promise<void> {
    await expect.poll(async () => (await this.#read())?.language, patience).toBe(language);
  }

  async expectValue(label: string, value: string): Promise<void> {
    await expect.poll(async () => (await this.#part('field', label))?.value, patience).toBe(value);
  }

  async expectFocus(label: string): Promise<void> {
    await expect.poll(async () => (await this.#part('field', label))?.hasFocus, patience).toBe(true);
  }

  async expectDisabled(button: string): Promise<void> {
    await expect.poll(async () => (await this.#part('button', button))?.isDisabled, patience).toBe(true);
  }

  /** Where a part can be pressed, once it stays there. */
  async #waitForPoint(kind: 'field' | 'button' | 'link', name: string): Promise<Point> {
    let last: Part['point'] = null;
    await expect
      .poll(
        async () => {
          const before = last;
          last = (await this.#part(kind, name))?.point ?? null;
          return last !== null && last.x === before?.x && last.y === before.y;
        },
        { ...patience, message: `a ${kind} “${name}” that can be pressed` },
      )
      .toBe(true);
    return last as unknown as Point;
  }

  async #part(kind: 'field' | 'button' | 'link', name: string): Promise<Part | null> {
    return await this.#visit.call(findPart, kind, plain(name)).catch(betweenPages);
  }

  /** Whether the page is another than the marked one. */
  async #hasLeft(marked: Marked): Promise<boolean> {
    const now = await this.#read();
    return now !== null && (!now.isMarked || now.address !== marked.address || now.heading !== marked.heading);
  }

  async #read(): Promise<Page | null> {
    return await this.#visit.call(readPage).catch(betweenPages);
  }
}

/** Null between two pages, where nothing can be asked. A browser that is gone is not waited for. */
function betweenPages(error: unknown): null {
  if (String(error).includes('invalid session id')) throw error;
  return null;
}

const plain = (text: string) => text.replace(/\s+/g, ' ').trim();

// All are sent into pages as text: they need nothing around them, and only what the oldest browser here knows.

export type Part = { point: Point | null; isDisabled: boolean; value: string; hasFocus: boolean };

/**
 * The field, button or link with this name, or null. It has a point where it can be pressed unless it is disabled or
 * behind something else.
 */
function findPart(kind: 'field' | 'button' | 'link', name: string): Part | null {
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
function readPage(): Page {
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
function markPage(): Marked {
  document.documentElement.setAttribute('data-marked', '');
  const heading = (document.querySelector('h1')?.textContent ?? '').replace(/\s+/g, ' ').trim();
  return { address: location.href, heading };
}
