import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

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
