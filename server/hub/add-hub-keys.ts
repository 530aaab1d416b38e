import { generateKeyPairSync, randomUUID } from 'node:crypto';
import type { HubAlgorithm } from '../config/hub-audiences.ts';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { seal } from '../secrets/sealed.ts';
import type { Connection } from '../storage/database.ts';
import {
  type HubKeyRow,
  hubKeyPlace,
  insertHubKey,
  listHubKeys,
  lockHubKeys,
  type PublicHubKey,
  updateHubKeysEnd,
} from '../storage/hub-key.ts';

export type HubKeyDeps = Pick<Deps, 'sql' | 'keys' | 'now'>;

/** Both have a key, so that a hub can change to the other one at once. */
export const hubAlgorithms: readonly HubAlgorithm[] = ['EdDSA', 'ES256'];

/** The published key that signs at a time; null if there is none. `keys` are in the order in which they sign. */
export function signingKey<Key extends Pick<HubKeyRow, 'algorithm' | 'signsFrom' | 'endsAt'>>(
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
