/** One tab with cookies of its own, in any browser: what a person does there, as small as the protocols have in common. */
export type Visit = {
  /** Goes to an address and waits until it is loaded. */
  open: (address: string) => Promise<void>;
  /** Starts going back in the history; the page is there when it shows so. */
  back: () => Promise<void>;
  reload: () => Promise<void>;
  /** Calls a function in the page, with or without its JavaScript. It is sent as text, so it needs nothing around it. */
  call: <Args extends (string | number)[], Result>(work: (...args: Args) => Result, ...args: Args) => Promise<Result>;
  /** Presses the mouse, once or more often in a row. */
  click: (point: Point, times?: number) => Promise<void>;
  /** Types on the keyboard; `\n` is Enter, `\t` is Tab. */
  type: (text: string) => Promise<void>;
  /** How many elements have this role and this name for a screen reader, as the browser computes them. */
  named: (role: Role, name: string) => Promise<number>;
  /** Makes the page as narrow as a phone's, in CSS pixels. */
  narrow: (width: number) => Promise<void>;
  /** Another tab of the same browser, with the same cookies. It ends with the visit. */
  tab: () => Promise<Visit>;
  /** What the window shows, as a PNG. */
  picture: () => Promise<Buffer>;
  /** Whether a press now and then does nothing, once in hundreds of times. */
  losesPresses: boolean;
  /** Errors in the pages so far, where the browser reports them. */
  faults: () => readonly string[];
  close: () => Promise<void>;
};

/** In CSS pixels from the window's upper left corner. */
export type Point = { x: number; y: number };

export type Role = 'button' | 'heading' | 'link' | 'textbox';

/** What a person has set in the system: colours for the night, or a theme of high contrast. */
export type Looks = 'usual' | 'night' | 'contrast';

/**
 * `loads`: `open` waits until everything is loaded, or only until the document is read. `language` is not in WebKitGTK,
 * which has that of the machine.
 */
export type VisitOptions = {
  javaScript: boolean;
  cookies?: boolean;
  looks?: Looks;
  language?: string;
  loads?: 'everything' | 'document';
};

/** A running browser. */
export type Browser = {
  visit: (options: VisitOptions) => Promise<Visit>;
  close: () => Promise<void>;
};

/** The window's size for tests and pictures; engines that cannot set the page's size come close. */
export const windowSize = { width: 1280, height: 800 };

/** The source of a call: a function without arguments that returns JSON, in the syntax of every browser here. */
export function callSource(work: (...args: never[]) => unknown, args: readonly (string | number)[]): string {
  return `() => { const result = (${work})(...${JSON.stringify(args)}); return JSON.stringify(result === undefined ? null : result); }`;
}
