import type { SavedDestination } from '#contract/destination.ts';
import type { Turns } from '#contract/page.ts';

/** What a browser tab remembers during sign-in, specification §3; null if nothing is saved. */
export type SavedValues = SavedDestination & { passwordHashParameter: string | null };

export const nothingSaved: SavedValues = {
  loginHashFragment: null,
  loginHashFragmentFrom: null,
  redirectOldWebbundleUrl: null,
  passwordHashParameter: null,
};

/** The session storage keys of specification §3. */
const names = ['loginHashFragment', 'redirectOldWebbundleUrl', 'passwordHashParameter'] as const;
type Name = (typeof names)[number];

/**
 * Beside them, the origin of the fragment and the value it applies to: other pages of the hub write the specification's
 * keys too, and don't know this one.
 */
const originName = 'loginHashFragmentFrom';
const origins = ['hash', 'redirectURL'] as const;

/**
 * The sign-in and sign-out known to the last page in this tab; the storage shared by all tabs has those of the last
 * page in any tab.
 */
const turnsName = 'turns';

/** The saved values of a tab; if session storage is absent or refuses, they last as long as the page (decisions §3). */
export class SavedValuesStore {
  #values: SavedValues = nothingSaved;
  #turns: Turns | null = null;
  #storage: Storage | null;
  #shared: Storage | null;

  /** `openShared`: the storage of all tabs. */
  constructor(openStorage: () => Storage | null, openShared: () => Storage | null = () => null) {
    this.#storage = attempt(openStorage) ?? null;
    this.#shared = attempt(openShared) ?? null;
  }

  read(): SavedValues {
    return attempt(() => this.#read()) ?? this.#values;
  }

  write(values: SavedValues): void {
    const { loginHashFragment: fragment, loginHashFragmentFrom: from } = values;
    const origin = fragment === null ? null : from;
    this.#values = { ...values, loginHashFragmentFrom: origin };
    for (const name of names) attempt(() => this.#store(name, values[name]));
    attempt(() => this.#store(originName, origin && `${origin} ${fragment}`));
  }

  /** Null if no page of ours was in this tab yet. */
  readTurns(): Turns | null {
    return turnsIn(this.#storage) ?? this.#turns;
  }

  /** Those known to the last page in any tab; null if there was none. */
  readSharedTurns(): Turns | null {
    return turnsIn(this.#shared);
  }

  writeTurns(turns: Turns): void {
    this.#turns = turns;
    for (const storage of [this.#storage, this.#shared])
      attempt(() => storage?.setItem(turnsName, JSON.stringify(turns)));
  }

  #read(): SavedValues {
    const found = (name: Name) => this.#storage?.getItem(name) || this.#values[name];
    const loginHashFragment = found('loginHashFragment');
    return {
      loginHashFragment,
      loginHashFragmentFrom: this.#originOf(loginHashFragment),
      redirectOldWebbundleUrl: found('redirectOldWebbundleUrl'),
      passwordHashParameter: found('passwordHashParameter'),
    };
  }

  #originOf(fragment: string | null): SavedValues['loginHashFragmentFrom'] {
    const mark = this.#storage?.getItem(originName);
    if (mark) return origins.find((origin) => mark === `${origin} ${fragment}`) ?? null;
    return fragment === this.#values.loginHashFragment ? this.#values.loginHashFragmentFrom : null;
  }

  #store(name: Name | typeof originName, value: string | null): void {
    if (value === null) this.#storage?.removeItem(name);
    else this.#storage?.setItem(name, value);
  }
}

function turnsIn(storage: Storage | null): Turns | null {
  return attempt(() => JSON.parse(storage?.getItem(turnsName) as string)) ?? null;
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
