import { languageOfTag } from '#contract/languages.ts';
import { customersOfEvent, type ResetOutcome } from '../audit/audit-events.ts';
import type { Deps } from '../deps/deps.ts';
import { hour, limits } from '../limits.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { tokenHash } from '../secrets/token.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Connection } from '../storage/database.ts';
import { isMailWaiting } from '../storage/mail.ts';
import { countResetLinksSince, findResetUserForUpdate, type ResetUser } from '../storage/reset-link.ts';
import { type ResetRequest, takeResetRequest } from '../storage/reset-request.ts';
import { countAttempt } from '../storage/throttle.ts';
import type { Outcome } from '../worker.ts';
import { makeResetToken } from './reset-token.ts';

/**
 * Answers the oldest request for a link: looks up the name and queues an email if one helps. The requester got the same
 * answer long before, so neither its time nor its words depend on this.
 */
export async function answerResetRequest(deps: Deps): Promise<Outcome> {
  const outcome = await deps.sql.begin(async (sql) => {
    const request = await takeResetRequest(sql);
    if (!request) return null;
    const user = await findResetUserForUpdate(sql, request.fold, {
      address: request.address,
      rpId: deps.config.passkeys?.id ?? null,
    });
    const outcome = user ? await reasonForNoMail(sql, user, deps.now()) : 'unknown-user';
    const done = outcome ?? (await queueHelp(deps, sql, user as ResetUser, request));
    await insertAuditEvent(
      sql,
      {
        event: 'password-forgotten',
        reason: done,
        address: request.address,
        requestId: request.requestId,
        ...(user && { userId: user.id, username: user.username, ...customersOfEvent(user.customers) }),
      },
      deps.now(),
    );
    return done;
  });
  if (outcome?.endsWith('-mailed')) deps.wake.mails();
  return outcome ? 'more' : 'nothing';
}

/** Why no email is sent, or null if one is. */
async function reasonForNoMail(sql: Connection, user: ResetUser, now: Date): Promise<ResetOutcome | null> {
  if (!user.active) return 'inactive';
  if (user.customers.length === 0) return 'no-customer';
  const hint = hintFor(user);
  if (hint) return await reasonForNoHint(sql, user, hint, now);
  if (!user.mayChangePassword) return 'may-not-change';
  const { count, lastAt } = await countResetLinksSince(sql, user.id, new Date(now.getTime() - hour));
  const isSamePress = lastAt !== null && now.getTime() - lastAt.getTime() < limits.samePress;
  if (isSamePress || (await isMailWaiting(sql, user.id, 'resetLink'))) return 'on-its-way';
  return count >= limits.resetMailsAnHour ? 'too-many-mails' : null;
}

/** Hints leave no row behind, unlike links: requests and emails are counted separately. */
async function reasonForNoHint(
  sql: Connection,
  { id }: ResetUser,
  kind: Hint,
  now: Date,
): Promise<ResetOutcome | null> {
  const isAdmitted = async (key: string, freeFailures: number, time: number) => {
    const limit = { freeFailures, leakEvery: time, firstWait: time, longestWait: time };
    return (await countAttempt(sql, [{ key: `${key}:${id}`, limit }], now)) === null;
  };
  const isOnItsWay = await isMailWaiting(sql, id, kind);
  if (isOnItsWay || !(await isAdmitted('reset-hint-press', 1, limits.samePress))) return 'on-its-way';
  return (await isAdmitted('reset-hint', limits.resetMailsAnHour, hour)) ? null : 'too-many-mails';
}

type Hint = 'singleSignOnHint' | 'passkeyHint';

/**
 * What helps a user whom a link does not: single sign-on, if the domain requires it or there is no password, or a passkey, if a
 * customer takes nothing else. Null if a link helps.
 */
function hintFor(user: ResetUser): Hint | null {
  const { passwordHash, mayChangePassword, ssoRequired, ssoPossible, passkeyRequired } = user;
  if (ssoRequired) return 'singleSignOnHint';
  if (passkeyRequired) return 'passkeyHint';
  return passwordHash === null && (ssoPossible || !mayChangePassword) ? 'singleSignOnHint' : null;
}

async function queueHelp(
  deps: Deps,
  sql: Connection,
  user: ResetUser,
  { address, language, destination }: ResetRequest,
): Promise<ResetOutcome> {
  const now = deps.now();
  const content = {
    now,
    address,
    language: languageOfTag(language) ?? 'en',
    ...(destination && { destination }),
  };
  const hint = hintFor(user);
  if (hint) {
    await queueMail(sql, user, { kind: hint, ...content });
    return hint === 'passkeyHint' ? 'passkey-mailed' : 'single-sign-on-mailed';
  }
  const token = await makeResetToken(sql, user.id, now);
  await queueMail(
    sql,
    user,
    { kind: 'resetLink', ...content },
    { token, tokenHash: tokenHash(token), keys: deps.keys.seal },
  );
  return 'link-mailed';
}
