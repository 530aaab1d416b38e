import type { Point } from './visit.ts';

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
