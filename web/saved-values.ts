import type { SavedDestination } from '#contract/destination.ts';

/** What a browser tab remembers during sign-in, specification §3; null if nothing is saved. */
export type SavedValues = SavedDestination & { passwordHashParameter: string | null };

export const nothingSaved: SavedValues = {
  loginHashFragment: null,
  loginHashFragmentFrom: null,
  redirectOldWebbundleUrl: null,
  passwordHashParameter: null,
};

/**
 * The keys in session storage are the names above, of specification §3. Beside them, the fragment that came from `redirectURL`:
 * other pages of the hub write the specification's keys too, and don't know this one.
 */
const originName = 'loginHashFragmentFrom';

/**
 * The saved values of a tab. If session storage is absent or refuses, they last as long as the page; otherwise
 * only the storage has them, since a page that the browser kept in memory wakes up after others of its tab forgot them.
 */
export class SavedValuesStore {
  #values: SavedValues = nothingSaved;
  #storage: Storage | null;

  constructor(openStorage: () => Storage | null) {
    this.#storage = attempt(openStorage) ?? null;
  }

  read(): SavedValues {
    return attempt(() => this.#storage && readFrom(this.#storage)) ?? this.#values;
  }

  write(values: SavedValues): void {
    this.#values = values;
    const entries = Object.entries({ ...values, [originName]: values[originName] && values.loginHashFragment });
    try {
      for (const [name] of entries) this.#storage?.removeItem(name);
      for (const [name, value] of entries) if (value !== null) this.#storage?.setItem(name, value);
    } catch {
      this.#storage = null;
    }
  }
}

function readFrom(storage: Storage): SavedValues {
  const found = (name: keyof SavedValues) => storage.getItem(name) || null;
  const loginHashFragment = found('loginHashFragment');
  const isAddress = loginHashFragment && found(originName) === loginHashFragment;
  return {
    loginHashFragment,
    loginHashFragmentFrom: isAddress ? 'redirectURL' : null,
    redirectOldWebbundleUrl: found('redirectOldWebbundleUrl'),
    passwordHashParameter: found('passwordHashParameter'),
  };
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
