import { hash, randomBytes } from 'node:crypto';

const tokenBytes = 32;

/** Returns a new opaque token of 256 random bits, 43 characters of base64url. */
export function newToken(): string {
  return randomBytes(tokenBytes).toString('base64url');
}

/** Whether the text has the exact shape of a token; anything else isn't looked up. */
export function isToken(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}

/** The stored form of a token: its SHA-256. Full entropy needs no salt; the look-up by hash leaks no timing. */
export function tokenHash(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** Whether a text is a UUID as the database writes it; it would refuse anything else. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}
