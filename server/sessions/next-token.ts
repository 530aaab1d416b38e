import { codeDigests } from '../crypto/code-digest.ts';
import { tokenHash } from '../crypto/token.ts';
import type { Deps } from '../deps.ts';
import { limits } from '../limits.ts';
import { isRotatedSince } from './session.ts';

/** A session's token, and what was given for its next one: a code, a password, or a passkey's answer. */
type Press = { token: string; given: string };

/**
 * The token by which a session goes on. It is computed from the server's key, the token before and what was given, so that a
 * form that is pressed twice finds the session that its first press made, and the token before alone finds nothing.
 */
export function nextToken(deps: Pick<Deps, 'keys'>, press: Press): string {
  return nextTokens(deps, press)[0] as string;
}

/** The token that the first press of a form gave to its session within ten seconds; null if none did. */
export async function tokenOfFirstPress(
  deps: Pick<Deps, 'sql' | 'keys' | 'now'>,
  press: Press,
): Promise<string | null> {
  const since = new Date(deps.now().getTime() - limits.sameCodePress);
  for (const token of nextTokens(deps, press))
    if (await isRotatedSince(deps.sql, tokenHash(token), since)) return token;
  return null;
}

/** With the current key and with older ones. */
function nextTokens({ keys }: Pick<Deps, 'keys'>, { token, given }: Press): string[] {
  return codeDigests(keys.code, given, `next token\n${token}`).map((digest) => digest.toString('base64url'));
}
