import { languageOfTag } from '#contract/languages.ts';
import { customersOfEvent, type ResetOutcome } from '../audit/audit-events.ts';
import type { Deps } from '../deps/deps.ts';
import { hour, limits } from '../limits.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { tokenHash } from '../secrets/token.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Connection } from '../storage/database.ts';
import { isMailWaiting } from '../storage/mail.ts';
import { findResetUsersForUpdate, type ResetUser } from '../storage/reset-link.ts';
import { type ResetRequest, takeResetRequest } from '../storage/reset-request.ts';
import { countAttempt } from '../storage/throttle.ts';
import type { Outcome } from '../worker.ts';
import { makeLink } from './make-link.ts';

/**
 * Answers the oldest request for a link: looks up the name and queues an email that helps. The requester got the same
 * answer long before, so neither its time nor its words depend on this.
 */
export async function answerResetRequest(deps: Deps): Promise<Outcome> {
  const outcome = await deps.sql.begin(async (sql) => {
    const request = await takeResetRequest(sql);
    if (!request) return null;
    const { fold, address, requestId } = request;
    const seen = { address, rpId: deps.config.passkeys?.id ?? null };
    const user = (await findResetUsersForUpdate(sql, [fold], seen)).get(fold);
    const outcome = user ? await help(deps, sql, user, request) : 'unknown-user';
    const who = user && { userId: user.id, username: user.username, ...customersOfEvent(user.customers) };
    const event = { event: 'password-forgotten', reason: outcome, address, requestId, ...who } as const;
    await insertAuditEvent(sql, event, deps.now());
    return outcome;
  });
  if (outcome?.endsWith('-mailed')) deps.wake.mails();
  return outcome ? 'more' : 'nothing';
}

type Help = 'resetLink' | 'singleSignOnHint' | 'passkeyHint' | 'noReset';

/** What helps: a link, unless the person signs in another way, or may not choose a password. */
function helpFor(user: ResetUser): Help {
  if (!user.active || user.customers.length === 0) return 'noReset';
  if (user.ssoRequired) return 'singleSignOnHint';
  if (user.passkeyRequired) return 'passkeyHint';
  if (user.passwordHash === null && (user.ssoPossible || !user.mayChangePassword)) return 'singleSignOnHint';
  return user.mayChangePassword ? 'resetLink' : 'noReset';
}

const outcomes = {
  resetLink: 'link-mailed',
  singleSignOnHint: 'single-sign-on-mailed',
  passkeyHint: 'passkey-mailed',
  noReset: 'no-reset-mailed',
} as const satisfies Record<Help, ResetOutcome>;

/** Queues the email, unless one is on its way, or the account has had enough of them in an hour, whoever asks. */
async function help(
  { now: clock, keys }: Deps,
  sql: Connection,
  user: ResetUser,
  { address, language, destination }: ResetRequest,
): Promise<ResetOutcome> {
  const now = clock();
  const kind = helpFor(user);
  const isAdmitted = async (what: string, freeFailures: number, time: number) => {
    const limit = { freeFailures, leakEvery: time, firstWait: time, longestWait: time };
    return (await countAttempt(sql, [{ key: `${what}:${user.id}`, limit }], now)) === null;
  };
  const isOnItsWay = await isMailWaiting(sql, user.id, kind);
  if (isOnItsWay || !(await isAdmitted('reset-press', 1, limits.samePress))) return 'on-its-way';
  if (!(await isAdmitted('reset-mail', limits.resetMailsAnHour, hour))) return 'too-many-mails';

  const content = {
    kind,
    now,
    address,
    language: languageOfTag(language) ?? 'en',
    ...(destination && { destination }),
  };
  if (kind === 'resetLink') {
    const { token } = await makeLink(sql, user.id, now);
    await queueMail(sql, user, content, { token, tokenHash: tokenHash(token), keys: keys.seal });
  } else await queueMail(sql, user, content);
  return outcomes[kind];
}
