import type { Deps } from '../deps/deps.ts';
import { tokenHash } from '../secrets/token.ts';
import { type Account, findAccount } from '../storage/account.ts';
import { isDeviceOfSession } from '../storage/device.ts';
import { type FreshProof, findFreshProof } from '../storage/fresh-proof.ts';
import type { FullSession } from '../storage/session.ts';
import { isTokenOfPress } from '../two-factor/token-of-press.ts';
import type { KnownVisitor } from '../visitor/visitor.ts';

/** A signed-in person on their account page. */
export type AccountVisit = {
  visitor: KnownVisitor;
  sessionToken: string;
  sessionHash: Buffer;
  session: FullSession;
  account: Account;
  /** Whether the session was opened in this browser; false in a copy of its cookie. */
  isOwnBrowser: boolean;
  /** What the session has proven since its sign-in; null if nothing. It counts only with `pressToken`. */
  proof: FreshProof | null;
  /** Of the browser that a press has given the session's token to; null in a copy of its cookie (docs/decisions/0051). */
  pressToken: string | null;
};

/** The visit of a full session; null if there is none, or it has ended meanwhile. */
export async function accountVisitOf(deps: Deps, visitor: KnownVisitor): Promise<AccountVisit | null> {
  const who = await visitor.who();
  const { sessionToken, registrationToken } = visitor;
  if (who.kind !== 'full' || sessionToken === null) return null;
  const sessionHash = tokenHash(sessionToken);
  const now = deps.now();
  const idleSince = new Date(now.getTime() - deps.config.sessionIdle);
  const proof = await findFreshProof(deps.sql, sessionHash);
  const pressToken = isTokenOfPress(deps.keys, registrationToken, sessionHash) ? registrationToken : null;
  const isOwnBrowser = await isDeviceOfSession(deps.sql, { sessionHash, deviceToken: visitor.deviceToken });
  // Read last: if a first press gives the session its next token meanwhile, what was read above is of none.
  const account = await findAccount(deps.sql, sessionHash, { idleSince, now });
  if (!account) return null;
  return { visitor, sessionToken, sessionHash, session: who.session, account, isOwnBrowser, proof, pressToken };
}
