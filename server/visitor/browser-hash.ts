import { tokenHash } from '../secrets/token.ts';
import type { Visitor } from './visitor.ts';

/**
 * What two submits of one form share before either is answered: the browser's cookies and its user agent. This is no
 * identity: all new browsers with one user agent share it.
 */
export function browserHash(visitor: Pick<Visitor, 'deviceToken' | 'sessionToken' | 'userAgent'>): Buffer {
  const { deviceToken, sessionToken, userAgent } = visitor;
  return tokenHash(JSON.stringify([deviceToken, sessionToken, userAgent ?? null]));
}
