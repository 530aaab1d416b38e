/** One tab with cookies of its own, in any browser: what a person does there, as small as the protocols have in common. */
export type Visit = {
  /** Goes to an address and waits until it is loaded. */
  open: (address: string) => Promise<void>;
  /** Starts going back in the history; the page is there when it shows so. */
  back: () => Promise<void>;
  reload: () => Promise<void>;
  /** Calls a function in the page, with or without its JavaScript. It is sent as text, so it needs nothing around it. */
  call: <Args extends (string | number)[], Result>(work: (...args: Args) => Result, ...args: Args) => Promise<Result>;
  /** Types on the keyboard; `\n` is Enter. */
  type: (text: string) => Promise<void>;
  /** Errors in the pages so far, where the browser reports them. */
  faults: () => readonly string[];
  close: () => Promise<void>;
};

export type VisitOptions = { javaScript: boolean };

/** A running browser. */
export type Browser = {
  visit: (options: VisitOptions) => Promise<Visit>;
  close: () => Promise<void>;
};

/** The window's size; engines that cannot set the page's size come close. */
export const windowSize = { width: 1280, height: 800 };

/** The source of a call: a function without arguments that returns JSON, in the syntax of every browser here. */
export function callSource(work: (...args: never[]) => unknown, args: readonly (string | number)[]): string {
  return `() => { const result = (${work})(...${JSON.stringify(args)}); return JSON.stringify(result === undefined ? null : result); }`;
}

const enter = '\uE007';

/** Typing on a keyboard as both WebDriver protocols say it (https://www.w3.org/TR/webdriver2/#keyboard-actions). */
export function keyActions(text: string): object {
  const keys = [...text].map((letter) => (letter === '\n' ? enter : letter));
  const actions = keys.flatMap((value) => [
    { type: 'keyDown', value },
    { type: 'keyUp', value },
  ]);
  return { type: 'key', id: 'keyboard', actions };
}
