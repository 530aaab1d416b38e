import type { RefusalReason } from '../audit/audit-events.ts';
import type { SignInUser } from '../storage/sign-in.ts';

/** Why the attempt is refused, or null. Checks follow the order of the steps an operator reads. */
export function reasonToRefuse(user: SignInUser | null, isRight: boolean): RefusalReason | null {
  if (!user) return 'unknown-user';
  if (user.passwordHash === null) return 'no-password';
  if (!isRight) return 'wrong-password';
  if (!user.active) return 'inactive';
  if (user.customers.length === 0) return 'no-customer';
  if (user.ssoRequired) return 'single-sign-on-required';
  if (user.passkeyRequired) return 'passkey-required';
  if (!user.customers.some(({ admits }) => admits)) return 'network';
  return null;
}
