import type { AskedProof } from '#contract/account-page.ts';
import type { Deps } from '../deps/deps.ts';
import type { ProofKind } from '../storage/fresh-proof.ts';
import { hasPasskey } from '../storage/passkey.ts';
import { canOpenByPasskey } from '../storage/passkey-user.ts';
import { isFreshSignIn, isRecent } from '../two-factor/registration.ts';
import type { AccountVisit } from './account-visit.ts';

/**
 * What a person has to prove before they change something about their way in;
 * null if they have done so within ten minutes. With an app it is a code: a password alone must not replace what stands beside it. A recent sign-in that
 * proved as much counts, and so does a passkey, unless the app guards a customer that takes none: the next one would open that.
 */
export function proofToAsk(visit: AccountVisit, now: Date): AskedProof | null {
  const { session, account, proof } = visit;
  if (account.hasApp) {
    const countsAsCode = session.proven === 'code' && !(account.isPasskeyUntaken && account.passkeyId);
    const isProven = isProvenBy('code', visit, now) && !(account.isPasskeyUntaken && proof?.passkeyId);
    return isProven || (countsAsCode && isFreshSignIn(session, now)) ? null : 'code';
  }
  if (isFreshSignIn(session, now)) return null;
  if (account.hasPassword && mustSignInAgain(session, account)) return 'signIn';
  if (proof?.passkeyId && isProvenBy('code', visit, now)) return null;
  // Typed again, the password adds to the account only where it opened the session: beside what else did, it is too little.
  if (!account.hasPassword || session.proven !== 'none') return 'signIn';
  return isProvenBy('password', visit, now) ? null : 'password';
}

function mustSignInAgain({ proven }: AccountVisit['session'], { isEmailFirst }: AccountVisit['account']): boolean {
  return isEmailFirst || proven === 'remembered';
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
  if (account.hasApp ? account.isPasskeyUntaken : account.hasPassword && mustSignInAgain(session, account))
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

/** Whether a session has proven this within ten minutes, after its sign-in. */
function isProvenBy(kind: ProofKind, { proof }: AccountVisit, now: Date): boolean {
  return proof?.kind === kind && isRecent(proof.at, now);
}
