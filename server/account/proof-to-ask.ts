import type { AskedProof } from '#contract/account-page.ts';
import type { Deps } from '../deps.ts';
import { isFreshProof } from '../factors/may-change-factors.ts';
import { hasPasskey } from '../factors/passkey.ts';
import { canOpenByPasskey } from '../people/sign-in-user.ts';
import type { AccountVisit } from './account-visit.ts';

/**
 * What a person has to prove before they change something about their way in; null if their session has proven it within ten
 * minutes, at its sign-in or since. With an app it is a code: a password alone must not replace what stands beside it. A passkey
 * counts as much, unless the app guards a customer that takes none: the next one would open that.
 */
export function proofToAsk(
  { session, account }: Pick<AccountVisit, 'session' | 'account'>,
  now: Date,
): AskedProof | null {
  const { proof } = session;
  const isFresh = isFreshProof(session, now);
  if (account.hasApp) {
    const countsAsCode = proof === 'code' || (proof === 'passkey' && !account.isPasskeyUntaken);
    return isFresh && countsAsCode ? null : 'code';
  }
  if (isFresh) return null;
  // Typed again, the password adds to the account only where nothing else was asked for beside it.
  return account.hasPassword && proof === 'password' && !account.isEmailFirst ? 'password' : 'signIn';
}

/**
 * Whether a passkey may stand for what is asked: where the account has one that would open it. Not where everybody with a password
 * signs in again, by the passkey if they like, before the first app: what follows asks how this session began. Nor for the code of
 * an app that guards a customer without passkeys.
 */
export async function mayProveByPasskey(
  { sql, config }: Pick<Deps, 'sql' | 'config'>,
  { session, account }: AccountVisit,
): Promise<boolean> {
  const rp = config.passkeys;
  if (!rp || account.isPart) return false;
  if (
    account.hasApp
      ? account.isPasskeyUntaken
      : account.hasPassword && (account.isEmailFirst || session.proof === 'remembered')
  )
    return false;
  return (
    (await hasPasskey(sql, { userId: session.userId, rpId: rp.id })) && (await canOpenByPasskey(sql, session.userId))
  );
}

/**
 * Whether the person is signed in by what signs in no more: only passkeys do, and none of theirs works. Signed out, they would
 * need an invitation to come back.
 */
export async function needsInvitation(
  { sql, config }: Pick<Deps, 'sql' | 'config'>,
  { session: { userId }, account }: AccountVisit,
): Promise<boolean> {
  if (!account.isByPasskey || account.provider !== null) return false;
  const rpId = config.passkeys?.id;
  return rpId === undefined || !(await hasPasskey(sql, { userId, rpId }));
}
