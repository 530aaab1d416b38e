import { randomInt } from 'node:crypto';

/** Crockford's base32: no letter is mistaken for a digit when read out on the phone. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Returns a new short reference such as `K7Q2-M4XD`, by which operators find an event. It is not secret. */
export function newReference(): string {
  const character = () => alphabet[randomInt(alphabet.length)];
  const four = () => Array.from({ length: 4 }, character).join('');
  return `${four()}-${four()}`;
}

/**
 * The reference of a request, for the page that refuses it: the beginning of its id, which is in each of its log lines
 * and events. So it exists even while the database is down.
 */
export function referenceOfRequest(id: string): string {
  return `${id.slice(0, 4)}-${id.slice(4, 8)}`.toUpperCase();
}

/** How the id of a request with this reference begins, or null if it cannot be a request's. */
export function requestIdStart(reference: string): string | null {
  const start = reference.replace('-', '').toLowerCase();
  return /^[0-9a-f]{8}$/.test(start) ? start : null;
}

/** The reference in a text as people type it (lower case, no dash, O for 0), or null. */
export function referenceOfText(text: string): string | null {
  const plain = text.toUpperCase().replace(/[\s-]/g, '').replace(/O/g, '0').replace(/[IL]/g, '1');
  return /^[0-9A-HJKMNP-TV-Z]{8}$/.test(plain) ? `${plain.slice(0, 4)}-${plain.slice(4)}` : null;
}
