import { createHmac } from 'node:crypto';

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
