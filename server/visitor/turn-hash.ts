import { tokenHash } from '../secrets/token.ts';
import type { Visitor } from './visitor.ts';

/**
 * What the requests have in common that a browser sends before it reads the response to a sign-in, which changes it: the
 * session cookie, whatever it stands for. Without one, the marks of the last sign-in and sign-out, in a browser that has
 * any; these are in every page, so address and user agent have to be the same, too. Null for a new browser.
 */
export function turnHash(visitor: Pick<Visitor, 'sessionToken' | 'turns' | 'address' | 'userAgent'>): Buffer | null {
  const { sessionToken, turns, address, userAgent } = visitor;
  if (sessionToken !== null) return tokenHash(sessionToken);
  return turns ? tokenHash(JSON.stringify([turns.signedIn, turns.signedOut, address, userAgent ?? null])) : null;
}
