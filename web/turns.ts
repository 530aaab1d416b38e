import type { Turns } from '#contract/page.ts';
import { nothingSaved, type SavedValues } from './saved-values.ts';

/**
 * What remains of a tab's saved values after the browser's sign-ins and sign-outs. `before`: those known to the last
 * page in this tab, null if there was none. A sign-in ends a reset link, however its session ends; a destination ends
 * only with the sign-out, since the hub saves one when a session expires.
 */
export function savedAfter(turns: Turns, before: Turns | null, saved: SavedValues): SavedValues {
  if (before && turns.signedOut !== null && turns.signedOut !== before.signedOut) return nothingSaved;
  const isSame = turns.signedIn === (before?.signedIn ?? null) && turns.signedOut === (before?.signedOut ?? null);
  return isSame ? saved : { ...saved, passwordHashParameter: null };
}
