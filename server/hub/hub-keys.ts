import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { HubAlgorithm } from '../config/hub-audiences.ts';
import { second } from '../limits.ts';
import { unseal } from '../secrets/sealed.ts';
import { type HubKeyRow, hubKeyPlace, listHubKeys } from '../storage/hub-key.ts';
import { addMissingHubKeys, type HubKeyDeps, hubAlgorithms, signingKey } from './add-hub-keys.ts';

/** How long one instance remembers the keys. */
export const hubKeysRemembered = second;

/** A key that signs: `id` is its `kid`. */
export type HubKey = { id: string; algorithm: HubAlgorithm; privateKey: KeyObject };

export type HubKeys = {
  /** The key that signs now. Throws if no VESTIBULE_SECRET opens it. */
  signing: (algorithm: HubAlgorithm) => Promise<HubKey>;
  /** Every published key, in the order in which they sign. */
  published: () => Promise<HubKeyRow[]>;
};

/** The keys that sign tokens for hubs, made when first needed, and remembered for a second. */
export function hubKeys(deps: HubKeyDeps): HubKeys {
  let read: { at: number; rows: Promise<HubKeyRow[]> } | null = null;
  const opened = new Map<string, KeyObject>();

  function published(): Promise<HubKeyRow[]> {
    const at = deps.now().getTime();
    if (read && at - read.at >= 0 && at - read.at < hubKeysRemembered) return read.rows;
    const rows = readAll();
    read = { at, rows };
    rows.catch(() => {
      if (read?.rows === rows) read = null;
    });
    return rows;
  }

  async function readAll(): Promise<HubKeyRow[]> {
    const now = deps.now();
    let rows = await listHubKeys(deps.sql, now);
    if (hubAlgorithms.some((algorithm) => !signingKey(rows, algorithm, now))) {
      await addMissingHubKeys(deps);
      rows = await listHubKeys(deps.sql, now);
    }
    for (const id of opened.keys()) if (!rows.some((row) => row.id === id)) opened.delete(id);
    return rows;
  }

  function open({ id, sealedKey }: HubKeyRow): KeyObject {
    const known = opened.get(id);
    if (known) return known;
    const pem = unseal(deps.keys.seal, sealedKey, hubKeyPlace(id));
    if (pem === null)
      throw new Error('A key for hubs cannot be opened: VESTIBULE_SECRET lacks the secret that sealed it');
    const key = createPrivateKey(pem);
    opened.set(id, key);
    return key;
  }

  return {
    published,
    async signing(algorithm) {
      const row = signingKey(await published(), algorithm, deps.now());
      if (!row) throw new Error(`no key for hubs signs with ${algorithm}`);
      return { id: row.id, algorithm, privateKey: open(row) };
    },
  };
}
