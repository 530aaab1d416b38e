import type { Language } from '#contract/languages.ts';
import { changeFailedReasons } from '#contract/reasons.ts';
import { insertAuditEvent } from '../audit/audit-event.ts';
import { customersOfEvent } from '../audit/audit-events.ts';
import { hashPassword, refuseWhenHashesWait, verifyPassword } from '../crypto/password-hash.ts';
import { tokenHash } from '../crypto/token.ts';
import { type Connection, RollBack } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { deleteDevicesOfUser, deleteRememberedDevices } from '../factors/devices.ts';
import { countPasskeys } from '../factors/passkey.ts';
import { limits } from '../limits.ts';
import { type MailReader, queueMail } from '../mail/queue-mail.ts';
import { updatePasswordHash } from '../people/portal-user.ts';
import { endSessionsOfUser } from '../sessions/end-sessions.ts';
import type { Visitor } from '../sessions/visitor.ts';
import { countAttempt, deleteThrottles, deleteThrottlesOfUser } from '../throttle/throttle.ts';
import { changeKey, networkOf } from '../throttle/throttle-keys.ts';
import { newPasswordProblem, ownNames } from './new-password.ts';
import { type LinkHolder, type LinkResult, type OpenLink, readLink, refuseLink } from './read-link.ts';
import { spendResetLink } from './reset-link.ts';

/** A new password. The page's language is used for the notice unless the user has chosen another. */
type ChangeRequest = LinkHolder & Pick<Visitor, 'language'> & { password: string; repeat: string };

/**
 * Sets the password of the user behind a link. The first failing check gives the reason: the link (4
 * unknown, 3 expired or used), the account (2, 7, 8, 10, then the network), the entries (6, 5, 9, 1), former passwords
 * (11). Without an open link nothing about the account is revealed.
 * Throws WorkQueueFull if too many passwords are waiting to be hashed.
 */
export async function changePassword(deps: Deps, request: ChangeRequest): Promise<LinkResult> {
  const { password, repeat } = request;
  const network = networkOf(request.address);
  refuseWhenHashesWait(network);

  const { link, refusal } = await readLink(deps, request);
  if (refusal) return await refuseLink(deps, request, { link, refusal });
  const { user, purpose } = link;

  const { passwordPolicy: policy, brand } = deps.config;
  const problem = newPasswordProblem(password, repeat, { policy, names: ownNames(user, brand.branding.name) });
  if (problem)
    return await refuseLink(deps, request, { link, refusal: problem.reason, problem: problem.words.join('; ') });

  // Each try costs up to eleven hashes. A change that succeeds deletes this count.
  const until = await countAttempt(deps.sql, [changesByLink(user.id)], deps.now());
  if (until) return await refuseLink(deps, request, { link, refusal: { until } });
  if (await wasUsedBefore(deps.sql, user, password, network))
    return await refuseLink(deps, request, {
      link,
      refusal: changeFailedReasons.usedBefore,
      problem: 'it is one of the last ten',
    });

  const changed = { kind: 'changed', purpose, username: user.username } as const;
  if (await store(deps, request, link, await hashPassword(password, network))) return changed;

  const now = await readLink(deps, request);
  // The same form was sent twice at once: both answers say that it was changed.
  if (now.link?.usedAt && (await verifyPassword(now.link.user?.passwordHash ?? null, password, network)))
    return changed;
  const reason = now.refusal ?? changeFailedReasons.changeFailed;
  const why = 'the account was changed while it was checked';
  return await refuseLink(deps, request, { link: now.link, refusal: reason, problem: why });
}

const changesByLink = (userId: string) => changeKey('password-by-link', userId);

/** Replaces the password, uses up the link, and ends what depended on it; false if either has changed since it was read. */
async function store(
  deps: Deps,
  { token, address, language, requestId }: ChangeRequest,
  { purpose, user }: OpenLink,
  passwordHash: string,
): Promise<boolean> {
  const now = deps.now();
  const { id: userId, username, customers } = user;
  const isStored = await deps.sql.begin(async (sql) => {
    if (!(await updatePasswordHash(sql, userId, user.passwordHash, passwordHash))) return new RollBack(false);
    if (!(await spendResetLink(sql, tokenHash(token), now))) return new RollBack(false);
    const sessionsEnded = await passwordReplaced(sql, userId, { hashBefore: user.passwordHash, now });
    await deleteThrottles(sql, [changesByLink(userId)]);
    await queuePasswordNotice(sql, user, { now, address, language });
    const event = purpose === 'invitation' ? 'invitation-used' : 'password-changed';
    const steps = [{ step: 'sessions ended', outcome: String(sessionsEnded) }];
    const who = { userId, username, ...customersOfEvent(customers), address, requestId };
    await insertAuditEvent(sql, { event, ...who, steps }, now);
    return true;
  });
  if (isStored) deps.wake.mails();
  return isStored;
}

/** Whether a password is the current one of a user, or one of the nine before it. */
export async function wasUsedBefore(
  sql: Connection,
  user: { id: string; passwordHash: string | null },
  password: string,
  network: string,
): Promise<boolean> {
  const former = await sql<{ hash: string }[]>`
    select password_hash as hash from former_password where user_id = ${user.id}
    order by id desc limit ${limits.passwordsRemembered - 1}`;
  for (const hash of [user.passwordHash, ...former.map(({ hash }) => hash)])
    if (hash !== null && (await verifyPassword(hash, password, network))) return true;
  return false;
}

/**
 * Does what follows from a new or removed password: remembers the old hash, and ends the user's sessions but `kept`, known and
 * remembered browsers, and waits. Returns how many sessions ended.
 */
export async function passwordReplaced(
  sql: Connection,
  userId: string,
  { hashBefore, now, kept = null }: { hashBefore: string | null; now: Date; kept?: string | null },
): Promise<number> {
  if (hashBefore) {
    await sql`
      insert into former_password (user_id, password_hash, replaced_at) values (${userId}, ${hashBefore}, ${now})`;
    await sql`
      delete from former_password where user_id = ${userId} and id not in (
        select id from former_password where user_id = ${userId} order by id desc limit ${limits.passwordsRemembered - 1}
      )`;
  }
  const sessionsEnded = await endSessionsOfUser(sql, userId, { kept });
  // In the same order as a sign-in, so that there is no deadlock.
  await deleteThrottlesOfUser(sql, userId);
  await deleteDevicesOfUser(sql, userId);
  await deleteRememberedDevices(sql, userId);
  return sessionsEnded;
}

/** Notifies users that their password was replaced, in case it was not them, and says how many passkeys still sign in. */
export async function queuePasswordNotice(
  sql: Connection,
  user: MailReader,
  notice: { now: Date; address?: string; language?: Language },
): Promise<void> {
  const passkeys = await countPasskeys(sql, user.id);
  await queueMail(sql, user, { kind: 'passwordChanged', ...notice, ...(passkeys > 0 && { passkeys }) });
}
