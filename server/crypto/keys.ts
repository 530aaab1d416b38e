import { createHmac, hkdfSync } from 'node:crypto';
import { join } from 'node:path';
import { readOrMakeSecretFile } from './secret-file.ts';

/** Keys derived from VESTIBULE_SECRET, one per purpose. */
export type Keys = {
  /** For the digest of the last guess, so that repeating the same wrong password counts once. */
  guess: Buffer;
  /** For digests of codes too short for a plain hash: the first key creates, all are tried. */
  code: Buffer[];
  /** For values that must be decrypted again: the first seals, each opens. */
  seal: Buffer[];
};

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

/** The stored form of a short code: a keyed digest, bound to its owner, so that a dump cannot be brute-forced. */
export function codeDigest(keys: readonly Buffer[], code: string, boundTo: string | Buffer): Buffer {
  return digestWith(keys[0] as Buffer, code, boundTo);
}

/** Every digest that a code may be stored under: with the current key and older ones. */
export function codeDigests(keys: readonly Buffer[], code: string, boundTo: string | Buffer): Buffer[] {
  return keys.map((key) => digestWith(key, code, boundTo));
}

function digestWith(key: Buffer, code: string, boundTo: string | Buffer): Buffer {
  return createHmac('sha256', key).update(boundTo).update('\n').update(code).digest();
}
