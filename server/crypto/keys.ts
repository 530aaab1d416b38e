import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { link, open, readFile, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

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
  return codeDigests(keys, code, boundTo)[0] as Buffer;
}

/** Every digest that a code may be stored under: with the current key and older ones. */
export function codeDigests(keys: readonly Buffer[], code: string, boundTo: string | Buffer): Buffer[] {
  return keys.map((key) => createHmac('sha256', key).update(boundTo).update('\n').update(code).digest());
}

/** The secret in a file, 256 bits in base64url, made on the first call with mode 0600; concurrent calls read the same one. */
export async function readOrMakeSecretFile(path: string): Promise<string> {
  const kept = await readSecretFile(path);
  if (kept !== null) return kept;
  const draft = `${path}.${process.pid}-${randomBytes(6).toString('hex')}`;
  await writeFile(draft, `${randomBytes(32).toString('base64url')}\n`, { flag: 'wx', mode: 0o600, flush: true });
  // A link refuses to replace an existing file, so the first one wins; with a rename the last one would.
  await link(draft, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await unlink(draft);
  await syncFolder(dirname(path));
  return (await readFile(path, 'utf8')).trim();
}

/** The secret kept in a file, or null if the file is missing. */
export async function readSecretFile(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Makes the names in a folder survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const algorithm = 'aes-256-gcm';
export const keyIdBytes = 4;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = keyIdBytes + nonceBytes + tagBytes;

/**
 * Seals a text so that it can be read only with a key, and only in its place: `boundTo` names the row, and a copy in
 * another row does not open. The first key seals. Returns the key's id, nonce, tag and ciphertext (NIST SP 800-38D).
 */
export function seal(keys: readonly Buffer[], text: string, boundTo: string): Buffer {
  const key = keys[0] as Buffer;
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(boundTo));
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([keyId(key), nonce, cipher.getAuthTag(), ciphertext]);
}

/** The sealed text, or null if none of the keys sealed it, it was changed, or it belongs elsewhere. */
export function unseal(keys: readonly Buffer[], given: Uint8Array, boundTo: string): string | null {
  const sealed = Buffer.from(given);
  const key = keys.find((key) => keyId(key).equals(sealed.subarray(0, keyIdBytes)));
  if (!key || sealed.length < headBytes) return null;
  const nonce = sealed.subarray(keyIdBytes, keyIdBytes + nonceBytes);
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
    .setAAD(Buffer.from(boundTo))
    .setAuthTag(sealed.subarray(keyIdBytes + nonceBytes, headBytes));
  try {
    return decipher.update(sealed.subarray(headBytes), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return null;
  }
}

/** What everything that a key has sealed begins with. */
export function keyId(key: Buffer): Buffer {
  return createHash('sha256').update('vestibule key id\n').update(key).digest().subarray(0, keyIdBytes);
}
