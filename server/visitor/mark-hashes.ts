import type { Turns } from '#contract/page.ts';
import { tokenHash } from '../secrets/token.ts';

/**
 * What a browser has left of a turn once it was closed, which drops the session cookie: the marks of the last sign-in and
 * sign-out. First as they are now, then as they will be once that of the sign-out has expired. Each sign-in and sign-out
 * changes them; without a sign-in there is no turn.
 */
export function markHashes(turns: Turns | undefined): Buffer[] {
  if (!turns || turns.signedIn === null) return [];
  return [turns.signedOut, null].map((signedOut) => tokenHash(JSON.stringify([turns.signedIn, signedOut])));
}
