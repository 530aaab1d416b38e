import { sign } from 'node:crypto';
import type { HubKey } from './hub-keys.ts';

/**
 * Signs claims as a JWT in compact form (RFC 7515 §3.1, RFC 7518 §3.4, RFC 8037 §3.1). On this thread: a signature takes
 * 50 µs, and in Node's pool it would wait for password hashes (docs/decisions/0039).
 */
export function signJwt(claims: object, typ: string, { id, algorithm, privateKey }: HubKey): string {
  const text = `${encoded({ alg: algorithm, kid: id, typ })}.${encoded(claims)}`;
  const hash = algorithm === 'ES256' ? 'sha256' : null;
  const signature = sign(hash, Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** A time in a token: whole seconds (RFC 7519 §2). */
export function secondsOf(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
