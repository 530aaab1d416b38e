import type { SavedDestination } from '#contract/destination.ts';

/** What a browser tab remembers on the way through sign-in, specification §3; null where nothing is saved. */
export type SavedValues = SavedDestination & { passwordHashParameter: string | null };

export const nothingSaved: SavedValues = {
  loginHashFragment: null,
  redirectOldWebbundleUrl: null,
  passwordHashParameter: null,
};

const names = Object.keys(nothingSaved) as (keyof SavedValues)[];

/** The saved values of a tab; where session storage is absent or refuses, they last as long as the page (decisions §3). */
export class SavedValuesStore {
  #values: SavedValues = nothingSaved;
  #storage: Storage | null;

  constructor(openStorage: () => Storage | null) {
    this.#storage = attempt(openStorage) ?? null;
  }

  read(): SavedValues {
    const stored = attempt(() =>
      names.map((name) => [name, this.#storage?.getItem(name) || this.#values[name]] as const),
    );
    return stored ? { ...nothingSaved, ...Object.fromEntries(stored) } : this.#values;
  }

  write(values: SavedValues): void {
    this.#values = values;
    for (const name of names) attempt(() => this.#store(name, values[name]));
  }

  #store(name: keyof SavedValues, value: string | null): void {
    if (value === null) this.#storage?.removeItem(name);
    else this.#storage?.setItem(name, value);
  }
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
