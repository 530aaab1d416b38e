import { createHmac } from 'node:crypto';

/** What is stored of a short code: a keyed digest, bound to whom it is for, so that a dump cannot be tried through. */
export function codeDigest(keys: readonly Buffer[], code: string, boundTo: string | Buffer): Buffer {
  return digestWith(keys[0] as Buffer, code, boundTo);
}

/** Every digest that a code may be stored under: by the key of today and by those before. */
export function codeDigests(keys: readonly Buffer[], code: string, boundTo: string | Buffer): Buffer[] {
  return keys.map((key) => digestWith(key, code, boundTo));
}

function digestWith(key: Buffer, code: string, boundTo: string | Buffer): Buffer {
  return createHmac('sha256', key).update(boundTo).update('\n').update(code).digest();
}
