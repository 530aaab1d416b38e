import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Seals a text so that it can be read only with a key, and only in its place: `boundTo` names the row, and a copy in
 * another row does not open. The first key seals. Returns nonce, tag and ciphertext (NIST SP 800-38D).
 */
export function seal(keys: readonly Buffer[], text: string, boundTo: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, keys[0] as Buffer, nonce).setAAD(Buffer.from(boundTo));
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]);
}

/** The sealed text, or null if no key opens it, it was changed, or it belongs elsewhere. Any of the keys opens. */
export function unseal(keys: readonly Buffer[], sealed: Uint8Array, boundTo: string): string | null {
  for (const key of keys) {
    const text = unsealWith(key, Buffer.from(sealed), boundTo);
    if (text !== null) return text;
  }
  return null;
}

function unsealWith(key: Buffer, sealed: Buffer, boundTo: string): string | null {
  if (sealed.length < nonceBytes + tagBytes) return null;
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
    .setAAD(Buffer.from(boundTo))
    .setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
  try {
    return decipher.update(sealed.subarray(nonceBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return null;
  }
}
