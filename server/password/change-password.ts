import { type ChangeFailedReason, changeFailedReasons } from '#contract/reasons.ts';
import { customersOfEvent } from '../audit/audit-events.ts';
import { newReference } from '../audit/reference.ts';
import type { Deps } from '../deps/deps.ts';
import type { Origin } from '../secrets/fair-line.ts';
import { hashPassword, refuseWhenHashesWait, verifyPassword } from '../secrets/password-hash.ts';
import { isToken, tokenHash } from '../secrets/token.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { RollBack } from '../storage/database.ts';
import { insertEventOnceAMinute } from '../storage/event-once-a-minute.ts';
import { listFormerPasswords } from '../storage/former-password.ts';
import { updatePasswordHash } from '../storage/portal-user.ts';
import {
  findResetLink,
  type LinkPurpose,
  type ResetLink,
  type ResetUser,
  spendResetLink,
} from '../storage/reset-link.ts';
import { countAttempt, deleteThrottle } from '../storage/throttle.ts';
import { changeKey, networksOf, recordKey, unknownLinkKeys } from '../storage/throttle-keys.ts';
import type { KnownVisitor } from '../visitor/visitor.ts';
import { refusalOfAccount, refusalOfLink, stepsOfLink } from './link-refusal.ts';
import { newPasswordProblem } from './new-password-problem.ts';
import { newPasswordProblemsInWords } from './new-password-problems-in-words.ts';
import { ownNames } from './own-names.ts';
import { passwordReplaced, queuePasswordNotice } from './password-replaced.ts';

/** A new password. The page's language is used for the notice unless the user has chosen another. */
type ChangeRequest = Pick<KnownVisitor, 'address' | 'language' | 'requestId'> & {
  /** The token of the link, as sent. */
  token: string;
  password: string;
  repeat: string;
};

/** Every outcome of a change; visitors read out `reference` to the operator, `retryAfter` is in milliseconds. */
type ChangeResult =
  | { kind: 'changed'; purpose: LinkPurpose }
  /** `purpose` is null if there is no such link. */
  | { kind: 'refused'; purpose: LinkPurpose | null; reason: ChangeFailedReason; reference: string }
  | { kind: 'networkRefused'; reference: string }
  | { kind: 'throttled'; retryAfter: number; reference: string };

const { changeFailed, usedBefore } = changeFailedReasons;

/**
 * Sets the password of the user behind a link (decisions §6). The first failing check gives the reason: the link (4
 * unknown, 3 expired or used), the account (2, 7, 8, 10, then the network), the entries (6, 5, 9, 1), former passwords
 * (11). Without an open link nothing about the account is revealed. An invitation is over once there is a password.
 * Throws WorkQueueFull if too many passwords are waiting to be hashed.
 */
export async function changePassword(deps: Deps, request: ChangeRequest): Promise<ChangeResult> {
  const networks = networksOf(request.address);
  refuseWhenHashesWait(networks);
  const link = await linkOf(deps, request);
  const waitUntil = link ? null : await countAttempt(deps.sql, unknownLinkKeys(request.address), deps.now());
  if (waitUntil) return await throttled(deps, request, waitUntil);
  const reason = refusalOfLink(link, deps.now()) ?? refusalOfAccount(link?.user ?? null, 'password');
  if (reason) return await refused(deps, request, link, reason);
  const { purpose, user } = link as ResetLink & { user: ResetUser };
  if (!user.customers.some(({ admits }) => admits)) return await refused(deps, request, link, 'network');
  const { passwordPolicy: policy, brand } = deps.config;
  const names = ownNames(user, brand.branding.name);
  const problem = newPasswordProblem(request.password, request.repeat, { policy, names });
  if (problem) {
    const words = newPasswordProblemsInWords(request.password, request.repeat, { policy, names });
    return await refused(deps, request, link, problem, words.join('; '));
  }
  // Each of them costs up to eleven hashes; one that succeeds uses up its link, and is forgotten.
  const waitForUser = await countAttempt(deps.sql, [changesByLink(user.id)], deps.now());
  if (waitForUser) return await throttled(deps, request, waitForUser, user);
  if (await wasUsedBefore(deps, user, request.password, networks))
    return await refused(deps, request, link, usedBefore, 'it is one of the last ten');

  const passwordHash = await hashPassword(request.password, networks);
  return (await store(deps, request, { purpose, user }, passwordHash)) ?? (await outrun(deps, request));
}

/** Under what refused changes of one user are counted. */
const changesByLink = (userId: string) => changeKey('password-by-link', userId);

/** Records who has to wait, and until when: a user with many refused changes, or else an address that has tried unknown links. */
export async function throttled(
  deps: Deps,
  { address, requestId }: Pick<ChangeRequest, 'address' | 'requestId'>,
  until: Date,
  user?: ResetUser,
): Promise<Extract<ChangeResult, { kind: 'throttled' }>> {
  const now = deps.now();
  const counted = user ? 'refused changes of this user' : 'unknown links from this address';
  const steps = [{ step: 'throttle', outcome: `${counted}: wait until ${until.toISOString()}` }];
  const who = user && { userId: user.id, username: user.username, ...customersOfEvent(user.customers) };
  const event = { event: 'password-change-refused', reason: 'throttled', ...who, address, requestId, steps } as const;
  const under = user ? `change-throttled:${user.id}` : recordKey('change-throttled', address);
  const reference = await insertEventOnceAMinute(deps.sql, event, under, now);
  return { kind: 'throttled', retryAfter: until.getTime() - now.getTime(), reference };
}

/** The link of a request, as sent; null if there is none. */
export async function linkOf(
  { sql, config }: Pick<Deps, 'sql' | 'config'>,
  { token, address }: Pick<ChangeRequest, 'token' | 'address'>,
): Promise<ResetLink | null> {
  return isToken(token)
    ? await findResetLink(sql, tokenHash(token), { address, rpId: config.passkeys?.id ?? null })
    : null;
}

/** Whether a password is the current one of a user, or one of the nine before it. */
export async function wasUsedBefore(
  { sql }: Pick<Deps, 'sql'>,
  user: Pick<ResetUser, 'id' | 'passwordHash'>,
  password: string,
  networks: Origin,
): Promise<boolean> {
  const hashes = [user.passwordHash, ...(await listFormerPasswords(sql, user.id))];
  for (const hash of hashes) if (hash !== null && (await verifyPassword(hash, password, networks))) return true;
  return false;
}

/**
 * All or nothing: replaces the password, consumes the link, and ends what depended on the old one. Null, with nothing stored, if the link or the account changed since the entries were checked.
 */
async function store(
  deps: Deps,
  request: ChangeRequest,
  { purpose, user }: { purpose: LinkPurpose; user: ResetUser },
  passwordHash: string,
): Promise<ChangeResult | null> {
  const { token, address, language, requestId } = request;
  const now = deps.now();
  const stored = await deps.sql.begin(async (sql) => {
    // Locks the user first, as every change of one does: two of their links would deadlock otherwise.
    if (!(await updatePasswordHash(sql, user.id, user.passwordHash, passwordHash))) return new RollBack(null);
    if (!(await spendResetLink(sql, tokenHash(token), now))) return new RollBack(null);
    const sessionsEnded = await passwordReplaced(sql, user.id, user.passwordHash, now);
    await deleteThrottle(sql, changesByLink(user.id));
    await queuePasswordNotice(sql, user, { now, address, language });
    const steps = [{ step: 'sessions ended', outcome: String(sessionsEnded) }];
    const { id: userId, username } = user;
    const event = purpose === 'invitation' ? 'invitation-used' : 'password-changed';
    await insertAuditEvent(
      sql,
      { event, userId, username, ...customersOfEvent(user.customers), address, requestId, steps },
      now,
    );
    return { kind: 'changed', purpose } as const;
  });
  if (stored) deps.wake.mails();
  return stored;
}

/** A concurrent change was faster: the same form sent twice, which already did this, or another one. */
async function outrun(deps: Deps, request: ChangeRequest): Promise<ChangeResult> {
  const link = await linkOf(deps, request);
  const overBy = refusalOfLink(link, deps.now());
  if (
    overBy &&
    link?.user &&
    (await verifyPassword(link.user.passwordHash, request.password, networksOf(request.address)))
  )
    return { kind: 'changed', purpose: link.purpose };
  const reason = overBy ?? refusalOfAccount(link?.user ?? null, 'password');
  if (reason) return await refused(deps, request, link, reason);
  return await refused(deps, request, link, changeFailed, 'the account was changed while it was checked');
}

async function refused(
  deps: Deps,
  { address, requestId }: ChangeRequest,
  link: ResetLink | null,
  reason: ChangeFailedReason | 'network',
  /** The problem of the new password, in words. */
  problem?: string,
): Promise<ChangeResult> {
  const now = deps.now();
  const user = link?.user;
  const reference = newReference();
  const steps = stepsOfLink(link, now);
  if (problem) steps.push({ step: 'new password', outcome: problem });
  const event = {
    event: 'password-change-refused',
    reason: String(reason),
    reference,
    address,
    requestId,
    steps,
    ...(user && { userId: user.id, username: user.username, ...customersOfEvent(user.customers) }),
  } as const;
  await insertAuditEvent(deps.sql, event, now);
  if (reason === 'network') return { kind: 'networkRefused', reference };
  return { kind: 'refused', purpose: link?.purpose ?? null, reason, reference };
}
