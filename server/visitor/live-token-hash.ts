import { tokenHash } from '../secrets/token.ts';
import type { Visitor } from './visitor.ts';

/**
 * Of the session cookie, if it stood for a session when the request asked who the visitor is; null otherwise. A request
 * that takes its time asks first, and learns from this whether that session has been signed out since.
 */
export async function liveTokenHash({
  sessionToken,
  who,
}: Pick<Visitor, 'sessionToken' | 'who'>): Promise<Buffer | null> {
  const { kind } = await who();
  return sessionToken !== null && (kind === 'full' || kind === 'half') ? tokenHash(sessionToken) : null;
}
