import { createPrivateKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import type { HubAlgorithm } from '../config/hub.ts';
import { seal, unseal } from '../crypto/sealed.ts';
import type { Connection } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { limits, second } from '../limits.ts';
import {
  type HubKeyRow,
  hubKeyPlace,
  insertHubKey,
  listHubKeys,
  lockHubKeys,
  type PublicHubKey,
  updateHubKeysEnd,
} from './hub-key.ts';

export type HubKeyDeps = Pick<Deps, 'sql' | 'keys' | 'now'>;

/** Both have a key, so that a hub can change to the other one at once. */
export const hubAlgorithms: readonly HubAlgorithm[] = ['EdDSA', 'ES256'];

/** How long one instance remembers the keys. */
export const hubKeysRemembered = second;

/** A published key: `id` is its `kid`. No private key if no VESTIBULE_SECRET opens it. */
export type HubKey = HubKeyRow & { privateKey: KeyObject | null };

/** A key that signs. */
export type SigningKey = HubKey & { privateKey: KeyObject };

export type HubKeys = {
  /** The key that signs now. Throws if it cannot be opened. */
  signing: (algorithm: HubAlgorithm) => Promise<SigningKey>;
  /** Every published key, in the order in which they sign. */
  published: () => Promise<HubKey[]>;
};

/** The keys that sign tokens for hubs, made when first needed, and remembered for a second. */
export function hubKeys(deps: HubKeyDeps): HubKeys {
  let read: { at: number; keys: Promise<HubKey[]> } | null = null;

  function published(): Promise<HubKey[]> {
    const at = deps.now().getTime();
    if (read && at - read.at >= 0 && at - read.at < hubKeysRemembered) return read.keys;
    const keys = readHubKeys(deps);
    read = { at, keys };
    keys.catch(() => {
      if (read?.keys === keys) read = null;
    });
    return keys;
  }

  return {
    published,
    async signing(algorithm) {
      const key = signingKey(await published(), algorithm, deps.now());
      if (!key) throw new Error(`no key for hubs signs with ${algorithm}`);
      const { privateKey } = key;
      if (privateKey) return { ...key, privateKey };
      throw new Error('A key for hubs cannot be opened: VESTIBULE_SECRET lacks the secret that sealed it');
    },
  };
}

async function readHubKeys(deps: HubKeyDeps): Promise<HubKey[]> {
  const now = deps.now();
  let rows = await listHubKeys(deps.sql, now);
  if (hubAlgorithms.some((algorithm) => !signingKey(rows, algorithm, now))) {
    await addMissingHubKeys(deps);
    rows = await listHubKeys(deps.sql, now);
  }
  return rows.map((row) => {
    const pem = unseal(deps.keys.seal, row.sealedKey, hubKeyPlace(row.id));
    return { ...row, privateKey: pem === null ? null : createPrivateKey(pem) };
  });
}

/** The published key that signs at a time; null if there is none. `keys` are in the order in which they sign. */
function signingKey<Key extends Pick<HubKeyRow, 'algorithm' | 'signsFrom' | 'endsAt'>>(
  keys: readonly Key[],
  algorithm: HubAlgorithm,
  now: Date,
): Key | null {
  const signs = (key: Key) =>
    key.algorithm === algorithm && key.signsFrom <= now && (key.endsAt === null || key.endsAt > now);
  return keys.findLast(signs) ?? null;
}

/** From when the only key of an algorithm signs: always, whatever the clocks of other instances say. */
export const fromTheStart = new Date(0);

/** Makes the keys that are missing. Another instance may be faster. */
export async function addMissingHubKeys(deps: HubKeyDeps): Promise<void> {
  await deps.sql.begin(async (sql) => {
    await lockHubKeys(sql);
    const now = deps.now();
    const keys = await listHubKeys(sql, now);
    for (const algorithm of hubAlgorithms)
      if (!signingKey(keys, algorithm, now)) await addHubKey(deps, sql, { algorithm, signsFrom: fromTheStart });
  });
}

/** Makes a key and publishes it; those before it are withdrawn once their last token has ended. */
export async function addHubKey(
  { keys, now }: HubKeyDeps,
  sql: Connection,
  { algorithm, signsFrom }: { algorithm: HubAlgorithm; signsFrom: Date },
): Promise<void> {
  const id = randomUUID();
  await updateHubKeysEnd(sql, algorithm, new Date(signsFrom.getTime() + limits.hubKeyAfter));
  const { publicKey, privateKey } =
    algorithm === 'EdDSA' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: id, alg: algorithm, use: 'sig' } as PublicHubKey;
  const sealedKey = seal(keys.seal, pem, hubKeyPlace(id));
  await insertHubKey(sql, { id, algorithm, jwk, sealedKey, madeAt: now(), signsFrom });
}
