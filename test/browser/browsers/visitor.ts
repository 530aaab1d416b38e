import { expect } from '@playwright/test';
import type { Visit } from './visit.ts';

// A busy machine may need long; what is already there is not waited for.
const patience = { timeout: 15_000, intervals: [30, 50, 100, 200] };

type Kind = 'field' | 'button' | 'link';

/** A person before a browser, at the keyboard: finds things by their names, and waits until they are there. */
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

  /** Goes back in the history; `sees` waits for the page. */
  async back(): Promise<void> {
    await this.#visit.back();
  }

  async reload(): Promise<void> {
    await this.#visit.reload();
  }

  async press(kind: 'button' | 'link', name: string): Promise<void> {
    await this.#focus(kind, name);
    await this.#visit.type('\n');
  }

  /** Replaces what is in a field. */
  async fill(label: string, text: string): Promise<void> {
    await this.#focus('field', label);
    await this.#visit.type(text);
    await this.expectValue(label, text);
  }

  /** Types where the focus is; `\n` is Enter. */
  async type(text: string): Promise<void> {
    await this.#visit.type(text);
  }

  async choose(list: string, option: string): Promise<void> {
    await this.#focus('field', list);
    await this.#visit.type(option);
  }

  /** Waits until a page has this heading, and returns all that it shows. */
  async sees(heading: string): Promise<string> {
    await this.#expect(async () => (await this.#read())?.heading, plain(heading));
    return (await this.#read())?.text ?? '';
  }

  /** Waits until the script has taken over the page. */
  async isScripted(): Promise<void> {
    await this.#expect(async () => (await this.#read())?.isScripted, true);
  }

  async seesText(text: string): Promise<void> {
    await expect.poll(async () => (await this.#read())?.text, patience).toContain(plain(text));
  }

  /** Waits until the address, without the portal's origin, is this one. */
  async isAt(address: string): Promise<void> {
    await this.#expect(async () => (await this.#read())?.address.replace(this.#origin, ''), address);
  }

  async expectLanguage(language: string): Promise<void> {
    await this.#expect(async () => (await this.#read())?.language, language);
  }

  async expectValue(label: string, value: string): Promise<void> {
    await this.#expect(async () => (await this.#part('field', label))?.value, value);
  }

  async expectFocus(label: string): Promise<void> {
    await this.#expect(async () => (await this.#part('field', label))?.hasFocus, true);
  }

  async expectDisabled(button: string): Promise<void> {
    await this.#expect(async () => (await this.#part('button', button))?.isDisabled, true);
  }

  async #expect<T>(look: () => Promise<T | undefined>, expected: T): Promise<void> {
    await expect.poll(look, patience).toBe(expected);
  }

  /** Focuses a part once it can be used, and selects what is in it. */
  async #focus(kind: Kind, name: string): Promise<void> {
    const focus = async () =>
      (await this.#visit.call(findPart, kind, plain(name), 'focus').catch(betweenPages))?.hasFocus;
    await expect.poll(focus, { ...patience, message: `a ${kind} “${name}” that can be used` }).toBe(true);
  }

  async #part(kind: Kind, name: string): Promise<Part | null> {
    return await this.#visit.call(findPart, kind, plain(name), 'look').catch(betweenPages);
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

// Both are sent into pages as text: they need nothing around them, and only what the oldest browser here knows.

type Part = { isDisabled: boolean; value: string; hasFocus: boolean };

/** The field, button or link with this name, or null; what is in front of it keeps it from the focus. */
function findPart(kind: Kind, name: string, act: 'look' | 'focus'): Part | null {
  const plain = (text: string | null | undefined) => (text ?? '').replace(/\s+/g, ' ').trim();
  const kinds = { field: 'input:not([type=hidden]), select', button: 'button', link: 'a[href]' };
  const part = [...document.querySelectorAll<HTMLInputElement>(kinds[kind])].find((element) => {
    const written = kind === 'field' ? element.labels?.[0]?.textContent : element.textContent;
    return element.getClientRects().length > 0 && plain(element.getAttribute('aria-label') ?? written) === name;
  });
  if (!part) return null;
  const isDisabled = part.matches(':disabled');
  if (act === 'focus' && !isDisabled) {
    part.scrollIntoView({ block: 'center' });
    const { left, top, width, height } = part.getBoundingClientRect();
    const front = document.elementFromPoint(left + width / 2, top + height / 2);
    if (front && part.contains(front)) part.focus();
    if (part instanceof HTMLInputElement) part.select();
  }
  return { isDisabled, value: part.value ?? '', hasFocus: document.activeElement === part };
}

type Page = {
  address: string;
  language: string;
  heading: string;
  text: string;
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
    language: document.documentElement.lang,
    heading: plain(document.querySelector('h1')?.textContent),
    text: plain(document.body.innerText),
    isScripted: Object.keys(menu.wrappedJSObject ?? menu).some((key) => key.startsWith('__react')),
  };
}
