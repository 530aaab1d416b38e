import type { AskedProof } from '#contract/account-page.ts';
import type { FreshProof, ProofKind } from '../storage/fresh-proof.ts';
import { isFreshSignIn, isRecent } from '../two-factor/registration.ts';
import type { AccountVisit } from './account-visit.ts';

/**
 * What a person has to prove before they change something about their way in; null if they have done so within ten minutes
 * (docs/decisions/0051). With an app it is a code: a password alone, as it may be known to whoever has a copy of the session
 * cookie, must not replace what stands beside it. A recent sign-in that proved as much counts.
 */
export function proofToAsk({ session, account, proof }: AccountVisit, now: Date): AskedProof | null {
  if (account.hasApp) {
    const isSignInEnough = session.proven === 'code' && isFreshSignIn(session, now);
    return isSignInEnough || isProvenBy('code', proof, now) ? null : 'code';
  }
  if (isFreshSignIn(session, now)) return null;
  // Typed again, the password adds to the account only where it did so at a sign-in: anything else is asked for there, as of a
  // session that a passkey opened.
  if (!account.hasPassword || account.isEmailFirst || session.proven !== 'none') return 'signIn';
  return isProvenBy('password', proof, now) ? null : 'password';
}

/** Whether a session has proven this within ten minutes, after its sign-in: it got another token with it. */
export function isProvenBy(kind: ProofKind, proof: FreshProof | null, now: Date): boolean {
  return proof?.kind === kind && isRecent(proof.at, now);
}
