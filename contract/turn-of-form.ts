import type { Turns } from './page.ts';

/** Of a mark, enough to notice that it has changed. */
export function startOfMark(mark: string | null | undefined): string | undefined {
  return mark?.slice(0, 8);
}

/** The turn that a form belongs to, as the form or its address states it: a lone dot for a browser without marks. */
export function turnOfForm(turns: Turns | undefined): string {
  return [turns?.signedIn, turns?.signedOut].map(startOfMark).join('.');
}

/**
 * What has happened in the browser since the form was shown. An expired mark doesn't count, nor does a form that says
 * nothing, such as one of the hub's own.
 */
export function happenedSince(said: string | undefined, turns: Turns | undefined): 'nothing' | 'signIn' | 'signOut' {
  if (said === undefined) return 'nothing';
  const [wasIn, wasOut] = said.split('.');
  const [isIn, isOut] = turnOfForm(turns).split('.');
  if (isOut !== '' && isOut !== wasOut) return 'signOut';
  return isIn !== '' && isIn !== wasIn ? 'signIn' : 'nothing';
}
