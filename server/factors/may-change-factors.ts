import type { Connection } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { limits } from '../limits.ts';
import type { FullSession } from '../sessions/session.ts';
import { type AccountOfSession, findAccountOfSession, type SessionOfAccount } from './factor-scope.ts';

/**
 * Whether a session may set up a factor, which counts for the whole account, or why not: the user has to sign in again, or with
 * their passkey, or where all customers that ask for a factor admit them; or a provider's session speaks for less.
 */
export type MayChangeFactors = 'may' | 'signInAgain' | 'byPasskey' | 'network' | 'notFromProvider';

/**
 * The session of the user's own password or passkey may once it has proven all that is asked: who knows the password alone could
 * otherwise replace what stands beside it. A provider's session may only where the account is its customer's alone and has neither
 * password nor passkey: to anybody else it would open more than the provider vouches for.
 */
export function mayChangeFactors(session: SessionOfAccount, account: AccountOfSession, now: Date): MayChangeFactors {
  const { connectionId, stage, proof, customerIds } = session;
  if (connectionId !== null) {
    const isWhole = account.customers.every(({ id }) => id === account.connectionCustomerId);
    if (!isWhole || account.hasPassword || account.hasPasskey) return 'notFromProvider';
  }
  // What else is asked comes before it in what the session waits for.
  if (stage === 'half') return session.waitsFor[0] === 'passkey' ? 'byPasskey' : 'may';
  const asking = account.customers.filter(({ twoFactor }) => twoFactor !== 'off');
  const isAsked = asking.length > 0 || account.isEmailConfirmed;
  // To a customer that takes no passkeys, one proves nothing.
  const isPasskeyTaken = asking.every(({ passkeys }) => passkeys !== 'off');
  const isProven = !isAsked || connectionId !== null || proof === 'code' || (proof === 'passkey' && isPasskeyTaken);
  // A sign-in from here would ask for nothing either.
  const isLeftOut = !asking.some(({ id }) => customerIds.includes(id));
  if (!isProven && proof !== 'passkey' && !account.isEmailConfirmed && isLeftOut) return 'network';
  return isProven && isFreshProof(session, now) ? 'may' : 'signInAgain';
}

/** The same for a stored session, as things are; its caller has found it. */
export async function findMayChangeFactors(
  { now }: Pick<Deps, 'now'>,
  sql: Connection,
  sessionId: string,
): Promise<MayChangeFactors> {
  const found = await findAccountOfSession(sql, sessionId);
  return found ? mayChangeFactors(found.session, found.account, now()) : 'signInAgain';
}

/**
 * Whether a session has just proven who it is, at its sign-in or since: a remembered device replaces the code at a sign-in, but
 * not when another factor is set up. Returning from a provider that did not ask proves nothing, nor does a time further ahead than
 * clock skew allows.
 */
export function isFreshProof({ proof, provenAt }: Pick<FullSession, 'proof' | 'provenAt'>, now: Date): boolean {
  if (provenAt === null || proof === 'remembered') return false;
  const age = now.getTime() - provenAt.getTime();
  return age >= -limits.providerClock && age <= limits.freshSignIn;
}
