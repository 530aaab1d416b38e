import { type ChangeFailedReason, changeFailedReasons } from '#contract/reasons.ts';
import { insertAuditEvent, insertEventOnceAMinute } from '../audit/audit-event.ts';
import { type AuditStep, customersOfEvent } from '../audit/audit-events.ts';
import { newReference } from '../audit/reference.ts';
import { isToken, tokenHash } from '../crypto/token.ts';
import type { Deps } from '../deps.ts';
import type { Visitor } from '../sessions/visitor.ts';
import { countAttempt } from '../throttle/throttle.ts';
import { recordKey, resetKeys } from '../throttle/throttle-keys.ts';
import { findResetLink, type LinkPurpose, type ResetLink, type ResetUser } from './reset-link.ts';

/** A visitor with a link; `token` as it was sent. */
export type LinkHolder = Pick<Visitor, 'address' | 'requestId'> & { token: string };

/** Why a link is refused: a reason that people see, their network, or a wait. */
type LinkRefusal = ChangeFailedReason | 'network' | { until: Date };

/** What came of the form of a link; visitors read out `reference` to the operator, `retryAfter` is in milliseconds. */
export type LinkResult =
  | { kind: 'changed'; purpose: LinkPurpose; username: string }
  /** `purpose` is null if there is no such link. */
  | { kind: 'refused'; purpose: LinkPurpose | null; reason: ChangeFailedReason; reference: string }
  | { kind: 'networkRefused'; reference: string }
  | { kind: 'throttled'; retryAfter: number; reference: string };

export type OpenLink = ResetLink & { user: ResetUser };

const { requestExpired, changeFailed, userNotFound, inactiveUser, missingPermissions, noCustomer } =
  changeFailedReasons;

/** Reads a link and checks whether it may be used; if not, says why. Unknown links count as failures of the address. */
export async function readLink(
  deps: Deps,
  holder: LinkHolder,
): Promise<{ link: OpenLink; refusal: null } | { link: ResetLink | null; refusal: LinkRefusal }> {
  const { token, address } = holder;
  const link = isToken(token) ? await findResetLink(deps.sql, tokenHash(token), address) : null;
  const until = link ? null : await countAttempt(deps.sql, resetKeys(address), deps.now());
  if (until) return { link, refusal: { until } };
  const refusal = refusalOfLink(link, deps.now());
  return refusal ? { link, refusal } : { link: link as OpenLink, refusal: null };
}

/** Why a link is refused, or null: for the link, the account, the network. An invitation ends once its user has a password. */
function refusalOfLink(link: ResetLink | null, now: Date): Exclude<LinkRefusal, { until: Date }> | null {
  if (!link) return changeFailed;
  const { purpose, endsAt, usedAt, user } = link;
  if (usedAt || endsAt <= now || (purpose === 'invitation' && user?.passwordHash)) return requestExpired;
  if (!user) return userNotFound;
  if (!user.active) return inactiveUser;
  if (user.ssoRequired || !user.mayChangePassword) return missingPermissions;
  if (user.customers.length === 0) return noCustomer;
  return user.customers.some(({ admits }) => admits) ? null : 'network';
}

/** Records a refusal; `problem`: what is wrong with the new password, in words. */
export async function refuseLink(
  deps: Deps,
  { address, requestId }: LinkHolder,
  { link, refusal, problem }: { link: ResetLink | null; refusal: LinkRefusal; problem?: string },
): Promise<Exclude<LinkResult, { kind: 'changed' }>> {
  const now = deps.now();
  const user = link?.user;
  const who = user && { userId: user.id, username: user.username, ...customersOfEvent(user.customers) };
  const refused = { event: 'password-change-refused', ...who, address, requestId } as const;
  if (typeof refusal === 'object') {
    const counted = user ? 'refused changes of this user' : 'unknown links from this address';
    const steps = [{ step: 'throttle', outcome: `${counted}: wait until ${refusal.until.toISOString()}` }];
    const under = user ? `change-throttled:${user.id}` : recordKey('change-throttled', address);
    const reference = await insertEventOnceAMinute(deps.sql, { ...refused, reason: 'throttled', steps }, under, now);
    return { kind: 'throttled', retryAfter: refusal.until.getTime() - now.getTime(), reference };
  }
  const steps = [...stepsOfLink(link, now), ...(problem ? [{ step: 'new password', outcome: problem }] : [])];
  const reference = newReference();
  await insertAuditEvent(deps.sql, { ...refused, reason: `${refusal}`, reference, steps }, now);
  if (refusal === 'network') return { kind: 'networkRefused', reference };
  return { kind: 'refused', purpose: link?.purpose ?? null, reason: refusal, reference };
}

/** What was known about the link and its account, as `vestibule explain` shows it. */
function stepsOfLink(link: ResetLink | null, now: Date): AuditStep[] {
  if (!link) return [{ step: 'link', outcome: 'unknown or malformed' }];
  const { purpose, endsAt, usedAt, user } = link;
  const isInvitation = purpose === 'invitation';
  const over = endsAt <= now ? `over since ${endsAt.toISOString()}` : 'open';
  return [
    { step: 'link', outcome: usedAt ? `used at ${usedAt.toISOString()}` : over },
    ...(isInvitation ? [{ step: 'made for', outcome: 'an invitation' }] : []),
    { step: 'account', outcome: user ? `found: ${user.username}` : 'gone' },
    ...(user ? stepsOfAccount(user, isInvitation) : []),
  ];
}

function stepsOfAccount(user: ResetUser, isInvitation: boolean): AuditStep[] {
  const admit = user.customers.some(({ admits }) => admits);
  return [
    ...(isInvitation && user.passwordHash !== null ? [{ step: 'password', outcome: 'set already' }] : []),
    { step: 'active', outcome: user.active ? 'yes' : 'no' },
    { step: 'may change password', outcome: user.mayChangePassword ? 'yes' : 'no' },
    { step: 'customers', outcome: user.customers.map(({ key }) => key).join(', ') || 'none' },
    { step: 'networks', outcome: admit ? 'admit the address' : 'do not admit it' },
  ];
}
