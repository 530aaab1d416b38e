import type { Turns } from '#contract/page.ts';
import { nothingSaved, type SavedValues } from './saved-values.ts';

/**
 * What is left of a tab's saved values after the sign-ins and sign-outs of the browser. `before`: those that the last page
 * in this tab knew of, null where it had none. A sign-in ends a reset link, however its session ends; a destination
 * outlives it, since the hub saves one when a session is over, and ends with the sign-out.
 */
export function savedAfter(turns: Turns, before: Turns | null, saved: SavedValues): SavedValues {
  if (before && turns.signedOut !== null && turns.signedOut !== before.signedOut) return nothingSaved;
  const isSame = turns.signedIn === (before?.signedIn ?? null) && turns.signedOut === (before?.signedOut ?? null);
  return isSame ? saved : { ...saved, passwordHashParameter: null };
}
