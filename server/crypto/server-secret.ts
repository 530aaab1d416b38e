import { createHmac, hkdfSync } from 'node:crypto';
import { join } from 'node:path';
import type { Keys } from './keys.ts';
import { readOrMakeSecretFile } from './secret-file.ts';

/** The secrets of the data folder, created on first use; as with VESTIBULE_SECRET, the first seals and all open. */
export async function secretsOfDataFolder(dataFolder: string): Promise<string[]> {
  return (await readOrMakeSecretFile(join(dataFolder, 'secret'))).split(',');
}

/** The keys of a server, derived from its secrets: the first is used, all are still accepted. */
export function keysOf(secrets: readonly string[]): Keys {
  return {
    guess: derivedKey(secrets[0] as string, 'last guess'),
    code: secrets.map((secret) => derivedKey(secret, 'codes')),
    seal: secrets.map((secret) => derivedKey(secret, 'seal')),
  };
}

/** A key for one purpose, derived from a secret (RFC 5869): 32 bytes. */
function derivedKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `vestibule ${purpose}`, 32));
}

/** A short keyed digest: equal texts give equal digests, and without the key guesses cannot be checked. */
export function keyedDigest(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest().subarray(0, 8);
}
