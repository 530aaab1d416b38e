import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

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

const enter = '\uE007';

/** Typing on a keyboard as both WebDriver protocols say it (https://www.w3.org/TR/webdriver2/#keyboard-actions). */
export function keyActions(text: string): { type: 'keyDown' | 'keyUp'; value: string }[] {
  const keys = [...text].map((letter) => (letter === '\n' ? enter : letter));
  return keys.flatMap((value) => [
    { type: 'keyDown', value },
    { type: 'keyUp', value },
  ]);
}

/** Presses of the mouse as both WebDriver protocols say it (https://www.w3.org/TR/webdriver2/#pointer-actions). */
export function pointerActions({ x, y }: Point): object {
  return {
    type: 'pointer',
    id: 'mouse',
    parameters: { pointerType: 'mouse' },
    actions: [
      { type: 'pointerMove', duration: 0, x, y },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ],
  };
}

/** Waits until a process has printed something; throws with its output if it ends before, or in half a minute. */
export async function printed(
  child: ChildProcess,
  stream: 'stdout' | 'stderr',
  pattern: RegExp,
): Promise<RegExpExecArray> {
  let output = '';
  return await new Promise((resolve, reject) => {
    const late = setTimeout(() => fail('is not ready after half a minute'), 30_000);
    const fail = (what: string) => {
      clearTimeout(late);
      reject(new Error(`${child.spawnfile} ${what}: ${output}`));
    };
    child.once('error', (error) => fail(error.message));
    child.once('exit', (code) => fail(`ended with ${code}`));
    child[stream]?.on('data', (data: Buffer) => {
      output += data;
      const found = pattern.exec(output);
      if (!found) return;
      clearTimeout(late);
      resolve(found);
    });
  });
}

/** Ends a process that is still running. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exited = once(child, 'exit');
  child.kill();
  await exited;
}
