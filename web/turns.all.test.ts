import { expect, it } from 'vitest';
import { nothingSaved, SavedValuesStore } from './saved-values.ts';
import { savedAfter } from './turns.ts';

const destination = {
  loginHashFragment: '/reports/7',
  loginHashFragmentFrom: 'hash',
  redirectOldWebbundleUrl: '/webbundle/a',
} as const;
const saved = { ...destination, passwordHashParameter: 'hash' };
const withoutLink = { ...saved, passwordHashParameter: null };
const nobody = { signedIn: null, signedOut: null };
const alice = { signedIn: 'alice-in', signedOut: null };
const gone = { signedIn: 'alice-in', signedOut: 'alice-out' };
const bob = { signedIn: 'bob-in', signedOut: 'alice-out' };

it.each([
  ['nobody signs in', nobody, nobody, saved],
  ['nobody else signs in', alice, alice, saved],
  ['a first page of ours in the tab, in a new browser', null, nobody, saved],
  ['somebody signs in, and their session is over', nobody, alice, withoutLink],
  ['somebody signs out', alice, gone, nothingSaved],
  ['somebody signs in and out', nobody, gone, nothingSaved],
  ['somebody signs in and out, and the next person in', alice, bob, nothingSaved],
  ['the next person signs in', gone, bob, withoutLink],
  ['the hub saved a destination in a tab where no page of ours was yet', null, gone, withoutLink],
])('SE-15 what a tab keeps: %s', (_what, before, now, kept) => {
  expect(savedAfter(now, before, saved)).toEqual(kept);
});

it('a tab remembers the last turns, whether its storage works or refuses', () => {
  const kept = new Map<string, string>();
  const storage = {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value),
  } as Storage;
  const refuse = () => {
    throw new DOMException('refused', 'SecurityError');
  };
  for (const turns of [nobody, alice, { signedIn: null, signedOut: 'b' }, bob]) {
    const refused = new SavedValuesStore(refuse);
    expect(refused.readTurns()).toBeNull();
    for (const store of [new SavedValuesStore(() => storage), refused]) store.writeTurns(turns);
    expect(new SavedValuesStore(() => storage).readTurns()).toEqual(turns);
    expect(refused.readTurns()).toEqual(turns);
  }
});
