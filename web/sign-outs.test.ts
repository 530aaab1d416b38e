import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { pageForTest } from '#test/support/page-for-test.ts';
import { nothingSaved, SavedValuesStore } from './saved-values.ts';
import { followSignOuts } from './sign-outs.ts';

const saved = { ...nothingSaved, loginHashFragment: '/reports/7', passwordHashParameter: 'hash' };

let all: Storage;
const listeners: Record<string, (event: { key: string }) => void> = {};
const reload = vi.fn();
const replaceState = vi.fn();

beforeEach(() => {
  vi.clearAllMocks();
  all = storage();
  vi.stubGlobal('localStorage', all);
  vi.stubGlobal('addEventListener', (type: string, listener: () => void) =>
    Object.assign(listeners, { [type]: listener }),
  );
  vi.stubGlobal('history', { replaceState });
  vi.stubGlobal('location', {
    pathname: '/portal/login',
    search: '?destination=%2Fa&lang=de&login=ada',
    hash: '',
    reload,
  });
});
afterEach(() => vi.unstubAllGlobals());

function storage(): Storage {
  const kept = new Map<string, string>();
  const setItem = (name: string, value: string) => void kept.set(name, value);
  const removeItem = (name: string) => void kept.delete(name);
  return { getItem: (name: string) => kept.get(name) ?? null, setItem, removeItem } as Storage;
}

/** Loads a page of ours in a tab; `save`: what it is to remember then. */
function load(tab: Storage, isSignedOut = false, save = saved) {
  vi.stubGlobal('sessionStorage', tab);
  const store = new SavedValuesStore(() => tab);
  followSignOuts(pageForTest('/portal/login', isSignedOut ? { isSignedOut } : {}), store);
  const remembered = store.read();
  store.write(save);
  return { remembered, store };
}

it('SE-15 the page that a sign-out leads to forgets everything that its tab saved', () => {
  const tab = storage();
  load(tab);
  expect(load(tab).remembered).toEqual(saved);
  expect(load(tab, true).remembered).toEqual(nothingSaved);
  expect(load(tab).remembered).toEqual(saved);
});

it('SE-15 an open page of another tab forgets what it saved, and loads again', () => {
  const { store } = load(storage());
  listeners.storage?.({ key: 'of the hub' });
  expect(reload).not.toHaveBeenCalled();
  listeners.storage?.({ key: 'signedOut' });
  expect(store.read()).toEqual(nothingSaved);
  expect(replaceState).toHaveBeenCalledWith(null, '', '/portal/login?lang=de');
  expect(reload).toHaveBeenCalledOnce();
});

it('SE-15 a tab that showed no page of ours at the sign-out forgets at its next one, once', () => {
  const tab = storage();
  load(tab);
  load(storage(), true);
  expect(load(tab).remembered).toEqual(nothingSaved);
  expect(load(tab).remembered).toEqual(saved);
});

it('what the hub saves in a tab without a page of ours is for the sign-in that follows', () => {
  load(storage(), true);
  const tab = storage();
  tab.setItem('loginHashFragment', '/reports/7');
  expect(load(tab).remembered.loginHashFragment).toBe('/reports/7');
});
