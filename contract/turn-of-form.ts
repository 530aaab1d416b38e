import type { Turns } from './page.ts';

/** Of each mark, enough to notice that it has changed. */
const shownCharacters = 8;

/** What the sign-in form says of the turn that it belongs to; of a browser without marks just the point. */
export function turnOfForm(turns: Turns | undefined): string {
  return [turns?.signedIn, turns?.signedOut].map((mark) => mark?.slice(0, shownCharacters)).join('.');
}

/**
 * Whether somebody has signed in or out in the browser since the form was shown: an expired mark, or a form of somebody
 * else's pages, which says nothing, doesn't count.
 */
export function isOfEarlierTurn(said: string | undefined, turns: Turns | undefined): boolean {
  if (said === undefined) return false;
  const now = turnOfForm(turns).split('.');
  const then = said.split('.');
  return now.some((mark, index) => mark !== '' && mark !== then[index]);
}
