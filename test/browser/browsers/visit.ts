/** One tab with cookies of its own, in any browser: what a person does there, as small as the protocols have in common. */
export type Visit = {
  /** Goes to an address and waits until it is loaded. */
  open: (address: string) => Promise<void>;
  /** Starts going back in the history; the page is there when it shows so. */
  back: () => Promise<void>;
  reload: () => Promise<void>;
  /** Calls a function in the page, with or without its JavaScript. It is sent as text, so it needs nothing around it. */
  call: <Args extends (string | number)[], Result>(work: (...args: Args) => Result, ...args: Args) => Promise<Result>;
  click: (point: Point) => Promise<void>;
  /** Types on the keyboard; `\n` is Enter. */
  type: (text: string) => Promise<void>;
  /** Whether a press now and then does nothing, once in hundreds of times. */
  losesPresses: boolean;
  /** Errors in the pages so far, where the browser reports them. */
  faults: () => readonly string[];
  close: () => Promise<void>;
};

/** In CSS pixels from the window's upper left corner. */
export type Point = { x: number; y: number };

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
