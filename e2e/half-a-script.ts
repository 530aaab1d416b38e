import type { ScreenWithNextStep } from './next-steps.ts';

/** What goes wrong with a script, a browser or a line. */
export const disturbances = {
  blocked: 'the script is blocked',
  gone: 'its other files are gone',
  midway: 'it fails half-way',
  early: 'filled in before it runs, storage refused',
  keptOpen: 'open over a deployment, shown again by Back',
  translated: 'translated by the browser',
  line: 'the line breaks while posting',
  otherTab: 'another tab goes first',
  noCookies: 'cookies off',
} as const;

export type Disturbance = keyof typeof disturbances;

/** Why a disturbance has no meaning on a screen; null if it has one. */
export function whyNot(screen: ScreenWithNextStep, disturbance: Disturbance): string | null {
  if (disturbance === 'line' && !screen.form) return 'posts nothing';
  if (disturbance === 'otherTab' && !screen.form) return 'posts nothing';
  if (disturbance === 'noCookies' && screen.needsCookie) return 'nobody sees it';
  return null;
}
