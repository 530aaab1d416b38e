import { expect, it } from 'vitest';
import { isOfEarlierTurn, turnOfForm } from './turn-of-form.ts';

const alice = { signedIn: 'alice-in-1', signedOut: null };
const out = { signedIn: 'alice-in-1', signedOut: 'alice-out' };

it('says of a browser without marks that there are none', () => {
  expect(turnOfForm(undefined)).toBe('.');
  expect(turnOfForm(out)).toBe('alice-in.alice-ou');
});

it.each([
  ['nothing has happened', turnOfForm(undefined), undefined, false],
  ['the turn is the same', turnOfForm(out), out, false],
  ['somebody has signed in for the first time', turnOfForm(undefined), alice, true],
  ['somebody has signed out', turnOfForm(alice), out, true],
  ['somebody has signed in again', turnOfForm(out), { ...out, signedIn: 'bob-is-in' }, true],
  ['a mark has expired', turnOfForm(out), alice, false],
  ['the form says nothing', undefined, out, false],
  ['the form says something else', '', out, true],
])('%s', (_what, said, turns, is) => {
  expect(isOfEarlierTurn(said, turns)).toBe(is);
});
