import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { codeDigest } from '../secrets/code-digest.ts';
import type { Keys } from '../secrets/keys.ts';
import { seal, unseal } from '../secrets/sealed.ts';
import { tokenHash } from '../secrets/token.ts';
import type { Connection } from '../storage/database.ts';
import { findPendingTotp, putPendingTotp } from '../storage/totp.ts';
import type { Visitor } from '../visitor/visitor.ts';
import { newTotpSecret } from './totp.ts';

/**
 * Whose app is set up, and where: the secret belongs to the user and to one browser, by its `device` cookie, so that whoever knows
 * only the password, in another browser, neither sees nor plants the one that the owner confirms.
 */
type SetUp = { userId: string; sessionId: string; browser: Pick<Visitor, 'deviceToken'> };

/** The secret to show: the same after reloads and after a sign-in that was cancelled, while a half session could live. */
export async function secretToShow({ sql, keys, now }: Deps, setUp: SetUp): Promise<string> {
  const { userId } = setUp;
  const browserHash = tokenHash(browserTokenOf(keys, setUp));
  const place = pendingPlace(userId, browserHash);
  const at = now();
  const endsAt = new Date(at.getTime() + limits.pendingApp);
  const sealedSecret = seal(keys.seal, newTotpSecret(), place);
  const stored = await putPendingTotp(sql, { userId, browserHash, sealedSecret, endsAt }, at);
  const secret = unseal(keys.seal, stored, place);
  if (secret === null) throw new Error('cannot open the pending secret of a user');
  return secret;
}

/** The secret that was shown, to be confirmed; null if none was. */
export async function findPendingSecret(
  { keys, now }: Pick<Deps, 'keys' | 'now'>,
  sql: Connection,
  setUp: SetUp,
): Promise<string | null> {
  const { userId } = setUp;
  const browserHash = tokenHash(browserTokenOf(keys, setUp));
  const sealed = await findPendingTotp(sql, { userId, browserHash }, now());
  return sealed && unseal(keys.seal, sealed, pendingPlace(userId, browserHash));
}

/** The token of the browser; one that has none gets that of its session, to keep. */
export function browserTokenOf({ code }: Keys, { sessionId, browser }: SetUp): string {
  return browser.deviceToken ?? codeDigest(code, sessionId, 'browser').toString('base64url');
}

/** Binding (additional data): a copy in the row of another user or browser does not open. */
export function pendingPlace(userId: string, browserHash: Buffer): string {
  return `pending-totp:${userId}:${browserHash.toString('hex')}`;
}
