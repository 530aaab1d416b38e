import type { ScreenWithNextStep } from './next-steps.ts';

/** What goes wrong with a script, a browser or a line, in words for the table. */
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

/** Where a disturbance leads instead of on. */
function outcomeOf(screen: ScreenWithNextStep, disturbance: Disturbance): string {
  if (disturbance === 'noCookies' && screen.form?.call === 'performlogin') return 'is told';
  if (disturbance === 'otherTab' && screen.form?.again === 'notice-signInExpired-title') return 'by a button';
  // A link works once, whoever sends it again (PR-02): the page says that the new password works.
  if (/line|otherTab/.test(disturbance) && screen.form?.again === 'change-failed-title') return 'is told';
  return 'goes on';
}

/** The table of all screens and disturbances, as Markdown. */
export function printHalfAScript(screens: readonly ScreenWithNextStep[]): string {
  const columns = Object.keys(disturbances) as Disturbance[];
  const head = ['', ...columns.map((column) => disturbances[column])];
  const rows = screens.map((screen) => [
    screen.name,
    ...columns.map((column) => {
      const why = whyNot(screen, column);
      return why ? `(${why})` : outcomeOf(screen, column);
    }),
  ]);
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
