import { expect, it } from 'vitest';
import { eachRow } from '#testing/runs-all.ts';
import { happenedSince, turnOfForm } from './turn-of-form.ts';

const alice = { signedIn: 'alice-in-1', signedOut: null };
const out = { signedIn: 'alice-in-1', signedOut: 'alice-out' };

it('says of a browser without marks that there are none', () => {
  expect(turnOfForm(undefined)).toBe('.');
  expect(turnOfForm(out)).toBe('alice-in.alice-ou');
});

it('tells what has happened since', () =>
  eachRow(
    [
      ['nothing has happened', turnOfForm(undefined), undefined, 'nothing'],
      ['the turn is the same', turnOfForm(out), out, 'nothing'],
      ['somebody has signed in for the first time', turnOfForm(undefined), alice, 'signIn'],
      ['somebody has signed out', turnOfForm(alice), out, 'signOut'],
      ['somebody has signed in and out', turnOfForm(undefined), out, 'signOut'],
      ['somebody has signed in again', turnOfForm(out), { ...out, signedIn: 'bob-is-in' }, 'signIn'],
      ['a mark has expired', turnOfForm(out), alice, 'nothing'],
      ['the form says nothing', undefined, out, 'nothing'],
      ['the form says something else', '', out, 'signOut'],
    ],
    ([_what, said, turns, is]) => {
      expect(happenedSince(said, turns)).toBe(is);
    },
  ));
