import type { AuditStep, RefusalReason } from '../audit/audit-events.ts';
import type { SignInUser } from '../people/sign-in-user.ts';

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

/** The decisions as `vestibule explain` shows them to an operator. */
export function stepsOf(
  user: SignInUser | null,
  { mayTry, isRight, address }: { mayTry: boolean; isRight: boolean; address: string },
): AuditStep[] {
  const looked = user?.passwordHash == null ? 'the user has none' : isRight ? 'right' : 'wrong';
  return [
    { step: 'account', outcome: user ? `found: ${user.username}` : 'no user has this name' },
    { step: 'browser', outcome: user?.deviceKnown ? 'signed in before as this user' : 'not known' },
    { step: 'throttle', outcome: mayTry ? 'may continue' : 'too many failures, must wait' },
    ...(user ? [{ step: 'password', outcome: mayTry ? looked : 'not checked' }] : []),
    ...(user && isRight
      ? [
          { step: 'active', outcome: user.active ? 'yes' : 'no' },
          { step: 'customers', outcome: user.customers.map(({ key }) => key).join(', ') || 'none' },
          ...user.customers.map(({ key, admits }) => ({
            step: `networks of ${key}`,
            outcome: admits ? `admit ${address}` : `do not admit ${address}`,
          })),
        ]
      : []),
  ];
}
