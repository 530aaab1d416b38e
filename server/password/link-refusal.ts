import { type ChangeFailedReason, changeFailedReasons } from '#contract/reasons.ts';
import type { AuditStep } from '../audit/audit-events.ts';
import type { ResetLink, ResetUser } from '../storage/reset-link.ts';

const { requestExpired, changeFailed, userNotFound, inactiveUser, missingPermissions, noCustomer } =
  changeFailedReasons;

/** What somebody wants of a link: it says which rules of the account count. */
export type Wanted = 'password' | 'passkey';

/** Why a link opens nothing, or null. An invitation is over once its person can sign in. */
export function refusalOfLink(link: ResetLink | null, now: Date): ChangeFailedReason | null {
  if (!link) return changeFailed;
  if (link.purpose === 'invitation' && link.user && canSignIn(link.user)) return requestExpired;
  return link.state === 'open' && link.endsAt > now ? null : requestExpired;
}

/** Whether an account is in use, so that no invitation counts any more: a password counts unless only passkeys do. */
function canSignIn({
  passkeys,
  passwordHash,
  passkeyRequired,
}: Pick<ResetUser, 'passkeys' | 'passwordHash' | 'passkeyRequired'>): boolean {
  return passkeys > 0 || (passwordHash !== null && !passkeyRequired);
}

/**
 * Why the account of a link gets no new password, or passkey; null if it may. Who may choose no password may choose a passkey
 * only where nothing else is taken.
 */
export function refusalOfAccount(user: ResetUser | null, wanted: Wanted): ChangeFailedReason | null {
  if (!user) return userNotFound;
  if (!user.active) return inactiveUser;
  const mayChoose =
    wanted === 'password'
      ? user.mayChangePassword && !user.passkeyRequired
      : user.passkeyRequired || user.mayChangePassword;
  if (user.ssoRequired || !mayChoose) return missingPermissions;
  if (user.customers.length === 0) return noCustomer;
  return wanted === 'passkey' && !user.passkeyTaken ? missingPermissions : null;
}

/** What was known of the link and its account, as shown by `vestibule explain`. */
export function stepsOfLink(link: ResetLink | null, now: Date): AuditStep[] {
  if (!link) return [{ step: 'link', outcome: 'unknown or malformed' }];
  const { state, purpose, endsAt, user } = link;
  const isOver = state === 'open' && endsAt <= now;
  return [
    { step: 'link', outcome: isOver ? `over since ${endsAt.toISOString()}` : state },
    ...(purpose === 'invitation' ? [{ step: 'made for', outcome: 'an invitation' }] : []),
    { step: 'account', outcome: user ? `found: ${user.username}` : 'gone' },
    ...(user ? stepsOfAccount(user, purpose === 'invitation') : []),
  ];
}

function stepsOfAccount(user: ResetUser, isInvitation: boolean): AuditStep[] {
  const admit = user.customers.some(({ admits }) => admits);
  return [
    ...(isInvitation && user.passwordHash !== null ? [{ step: 'password', outcome: 'set already' }] : []),
    ...(isInvitation && user.passkeys > 0 ? [{ step: 'passkeys', outcome: String(user.passkeys) }] : []),
    { step: 'active', outcome: user.active ? 'yes' : 'no' },
    { step: 'may change password', outcome: user.mayChangePassword ? 'yes' : 'no' },
    ...(user.passkeyRequired ? [{ step: 'signs in', outcome: 'by passkey only' }] : []),
    { step: 'customers', outcome: user.customers.map(({ key }) => key).join(', ') || 'none' },
    { step: 'networks', outcome: admit ? 'admit the address' : 'do not admit it' },
  ];
}
