import { expect, it } from 'vitest';
import { nothingSaved, SavedValuesStore } from './saved-values.ts';

function memoryStorage(): Storage {
  const values = new Map<string, string>();
  return {
    getItem: (name) => values.get(name) ?? null,
    setItem: (name, value) => void values.set(name, value),
    removeItem: (name) => void values.delete(name),
    clear: () => values.clear(),
    key: () => null,
    length: 0,
  };
}

const values = {
  ...nothingSaved,
  loginHashFragment: '/a',
  passwordHashParameter: 'b',
};

it('remembers in the storage, under the names of the specification', () => {
  const storage = memoryStorage();
  new SavedValuesStore(() => storage).write(values);
  expect(storage.getItem('loginHashFragment')).toBe('/a');
  expect(storage.getItem('redirectOldWebbundleUrl')).toBeNull();
  expect(storage.getItem('passwordHashParameter')).toBe('b');
  expect(new SavedValuesStore(() => storage).read()).toEqual(values);
});

it('the origin of a fragment counts only for the value it was saved with', () => {
  const storage = memoryStorage();
  const store = new SavedValuesStore(() => storage);
  store.write({ ...values, loginHashFragment: '/webbundle/a b', loginHashFragmentFrom: 'redirectURL' });
  expect(new SavedValuesStore(() => storage).read().loginHashFragmentFrom).toBe('redirectURL');
  // Another page of the hub, or this one from before the origin was saved.
  storage.setItem('loginHashFragment', '/reports/7');
  for (const opened of [store, new SavedValuesStore(() => storage)])
    expect(opened.read()).toMatchObject({ loginHashFragment: '/reports/7', loginHashFragmentFrom: null });
});
