import { tokenHash } from '../secrets/token.ts';
import type { Visitor } from './visitor.ts';

/**
 * What two presses of one button have in common, before either is answered: the cookies that the browser holds, and its own
 * words of itself. No proof of anything, since a browser that was never here holds no cookies.
 */
export function browserHash({
  deviceToken,
  sessionToken,
  userAgent,
}: Pick<Visitor, 'deviceToken' | 'sessionToken' | 'userAgent'>): Buffer {
  return tokenHash(JSON.stringify([deviceToken, sessionToken, userAgent ?? null]));
}
