import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Turns } from '#contract/page.ts';
import { pageForTest } from './page-for-test.ts';
import { nothingSaved, SavedValuesStore } from './saved-values.ts';
import { takeTurns } from './take-turns.ts';

const saved = { ...nothingSaved, loginHashFragment: '/reports/7', passwordHashParameter: 'hash' };
const alice = { signedIn: 'alice-in', signedOut: null };
const bob = { signedIn: 'bob-in', signedOut: 'alice-out' };
const bobLater = { signedIn: 'bob-in-again', signedOut: null };

let shared: Storage;
beforeEach(() => {
  shared = storage();
  vi.stubGlobal('addEventListener', () => undefined);
  vi.stubGlobal('history', historyAt(null));
});

/** The entry that a page is at. */
function historyAt(state: unknown) {
  const entry = {
    state,
    replaceState: vi.fn((state: unknown, _title: string, _url?: string) => {
      entry.state = state;
    }),
  };
  return entry;
}

afterEach(() => vi.unstubAllGlobals());

function storage(): Storage {
  const kept = new Map<string, string>();
  const setItem = (name: string, value: string) => void kept.set(name, value);
  const removeItem = (name: string) => void kept.delete(name);
  return { getItem: (name: string) => kept.get(name) ?? null, setItem, removeItem } as Storage;
}

/** A tab with what it saved, in which the last page of ours knew these marks. */
function tab(before: Turns | null): SavedValuesStore {
  const own = storage();
  const store = new SavedValuesStore(
    () => own,
    () => shared,
  );
  const known = shared.getItem('turns');
  if (before) store.writeTurns(before);
  if (known === null) shared.removeItem('turns');
  else shared.setItem('turns', known);
  store.write(saved);
  return store;
}

const load = (store: SavedValuesStore, turns?: Turns) =>
  takeTurns(pageForTest('/portal/login', turns && { turns }), store);

it('SE-15 a page without the mark of the sign-out, whose cookie expired first, leaves it to the other tabs', () => {
  shared.setItem('turns', JSON.stringify(bob));
  load(tab(bob), bobLater);
  expect(JSON.parse(shared.getItem('turns') ?? '')).toEqual({ ...bob, signedIn: 'bob-in-again' });
  const restored = tab(alice);
  load(restored, bobLater);
  expect(restored.read()).toEqual(nothingSaved);
});

it('SE-15 a mark that only this tab knows is not forgotten either, and nothing is discarded twice', () => {
  const store = tab(bob);
  load(store, { signedIn: 'bob-in', signedOut: null });
  expect(store.readTurns()).toEqual(bob);
  expect(JSON.parse(shared.getItem('turns') ?? '')).toEqual(bob);
  expect(store.read()).toMatchObject(saved);
});

it('SE-15 a page without marks uses what the other tabs know; its own come before theirs', () => {
  shared.setItem('turns', JSON.stringify(bob));
  const store = tab(alice);
  load(store);
  expect([store.readTurns(), store.read()]).toEqual([bob, nothingSaved]);
  vi.stubGlobal('history', historyAt(null));
  load(store, { signedIn: 'carol-in', signedOut: 'bob-out' });
  expect(JSON.parse(shared.getItem('turns') ?? '')).toEqual({ signedIn: 'carol-in', signedOut: 'bob-out' });
});

it.each(['?destination=%2Fa&login=alice&lang=de', '?lang=de&redirectURL=%2Fa'])(
  'SE-15 the reload after a sign-out elsewhere keeps no destination and no name, in query or fragment: %s',
  (query) => {
    const moments = new Map<string, () => void>();
    const kept: string[] = [];
    vi.stubGlobal('addEventListener', (moment: string, listen: () => void) => moments.set(moment, listen));
    const reload = vi.fn();
    const state = { signedOut: alice.signedOut };
    vi.stubGlobal('history', { state, replaceState: (_: null, __: string, url: string) => kept.push(url) });
    for (const [search, hash] of [
      [query, ''],
      ['', `#/login${query}`],
      [query, `#/twoFactor${query}`],
    ]) {
      vi.stubGlobal('location', { pathname: '/portal/', search, hash, reload });
      shared.removeItem('turns');
      load(tab(alice), alice);
      shared.setItem('turns', JSON.stringify(bob));
      moments.get('storage')?.();
    }
    expect(kept).toEqual(['/portal/?lang=de', '/portal/#/login?lang=de', '/portal/?lang=de#/twoFactor?lang=de']);
    expect(reload).toHaveBeenCalledTimes(3);
  },
);

it.each([
  ['is new', null, [{ signedOut: 'alice-out' }, '']],
  ['was opened in this turn', { signedOut: 'alice-out' }, undefined],
  ['was opened before the sign-out', { signedOut: 'before-alice' }, [null, '', '/portal/login?lang=de']],
  ['was opened before any sign-out', { signedOut: null }, [null, '', '/portal/login?lang=de']],
])('SE-15 an entry of the history that %s', (_what, state, written) => {
  const reload = vi.fn();
  const entry = historyAt(state);
  vi.stubGlobal('history', entry);
  vi.stubGlobal('location', { pathname: '/portal/login', search: '?destination=%2Fa&lang=de', hash: '', reload });
  load(tab(bob), bob);
  expect(entry.replaceState.mock.calls).toEqual(written ? [written] : []);
  expect(reload).toHaveBeenCalledTimes(written?.[0] === null ? 1 : 0);
});

it.each([true, false])(
  'SE-15 an entry that becomes current while the page is hidden (%s) is another page’s',
  (hidden) => {
    const moments = new Map<string, () => void>();
    const reload = vi.fn();
    const entry = historyAt(null);
    vi.stubGlobal('addEventListener', (moment: string, listen: () => void) => moments.set(moment, listen));
    vi.stubGlobal('history', entry);
    vi.stubGlobal('document', { hidden });
    vi.stubGlobal('location', { pathname: '/portal/forgotten', search: '', hash: '', reload });
    load(tab(bob), bob);
    entry.state = { signedOut: 'before-alice' };
    moments.get('visibilitychange')?.();
    expect(reload).toHaveBeenCalledTimes(hidden ? 0 : 1);
  },
);

it('SE-15 an entry of an earlier turn is noticed within one document, too, and a new one is marked there', () => {
  const moments = new Map<string, () => void>();
  const reload = vi.fn();
  const entry = historyAt(null);
  vi.stubGlobal('addEventListener', (moment: string, listen: () => void) => moments.set(moment, listen));
  vi.stubGlobal('history', entry);
  vi.stubGlobal('location', { pathname: '/portal/forgotten', search: '', hash: '', reload });
  load(tab(bob), bob);
  entry.state = null;
  moments.get('popstate')?.();
  expect(entry.state).toEqual({ signedOut: 'alice-out' });
  moments.get('popstate')?.();
  expect(reload).not.toHaveBeenCalled();
  entry.state = { signedOut: 'before-alice' };
  moments.get('popstate')?.();
  expect(reload).toHaveBeenCalledTimes(1);
});

it.each([
  ['another page of its tab', true],
  ['another tab', false],
])('SE-15 a page without a reset link, after a sign-in seen by %s: reloads: %s', (_where, isSeen) => {
  const moments = new Map<string, () => void>();
  const reload = vi.fn();
  vi.stubGlobal('addEventListener', (moment: string, listen: () => void) => moments.set(moment, listen));
  vi.stubGlobal('location', { pathname: '/portal/forgottenChange', search: '', hash: '', reload });
  const store = tab(alice);
  store.write(nothingSaved);
  load(store, alice);
  const later = { ...alice, signedIn: 'bob-in' };
  if (isSeen) store.writeTurns(later);
  else shared.setItem('turns', JSON.stringify(later));
  moments.get('pageshow')?.();
  expect(reload).toHaveBeenCalledTimes(isSeen ? 1 : 0);
});
