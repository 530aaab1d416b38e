import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { codeDigests } from '../secrets/code-digest.ts';
import { tokenHash } from '../secrets/token.ts';
import { isSessionOfPress } from '../storage/session.ts';

/**
 * The token by which a session goes on after a change. It is derived with a server's key from the session's own token and what
 * was entered, so that the second press of one button gets that of the first (docs/decisions/0028).
 */
export function nextToken(deps: Pick<Deps, 'keys'>, sessionToken: string, entered: string): string {
  return nextTokens(deps, sessionToken, entered)[0] as string;
}

/** The token that the first press of a button has given to its session, moments ago; null if none has. */
export async function tokenOfFirstPress(deps: Deps, sessionToken: string, entered: string): Promise<string | null> {
  const now = deps.now();
  const since = new Date(now.getTime() - limits.sameCodePress);
  for (const token of nextTokens(deps, sessionToken, entered)) {
    const hashes = { former: tokenHash(sessionToken), own: tokenHash(token) };
    if (await isSessionOfPress(deps.sql, hashes, { since, now })) return token;
  }
  return null;
}

function nextTokens({ keys }: Pick<Deps, 'keys'>, sessionToken: string, entered: string): string[] {
  const press = JSON.stringify([sessionToken, entered]);
  return codeDigests(keys.code, press, 'account, next session').map((digest) => digest.toString('base64url'));
}
