import { randomUUID } from 'node:crypto';
import { languageOfTag } from '#contract/languages.ts';
import { insertAuditEvent } from '../audit/audit-event.ts';
import { customersOfEvent, type ResetOutcome } from '../audit/audit-events.ts';
import { tokenHash } from '../crypto/token.ts';
import { type Connection, RollBack } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import type { Queue } from '../jobs/job.ts';
import { deleteJob, insertJob } from '../jobs/job.ts';
import { hour, limits } from '../limits.ts';
import { isMailWaiting, queueMail } from '../mail/queue-mail.ts';
import { countAttempt } from '../throttle/throttle.ts';
import type { ThrottleKey } from '../throttle/throttle-keys.ts';
import { findResetUsersForUpdate, makeLink, type ResetUser } from './reset-link.ts';

const resetQueueName = 'reset-request';

/** A request for a reset link, before its name is looked up. */
type ResetRequest = {
  fold: string;
  /** Of the page on which it was asked; the user's own comes first. */
  language: string;
  address: string;
  requestId: string;
  /** The page that the requester wanted, as judged; null for the default. */
  destination: string | null;
};

/**
 * Counts a request for its origin and stores it as a job. The statements are the same for every name. Returns until when the
 * sender has to wait if a limit is reached; then nothing is stored.
 */
export async function insertResetRequest(
  sql: Connection,
  request: ResetRequest,
  keys: readonly ThrottleKey[],
  now: Date,
): Promise<Date | null> {
  const until = await countAttempt(sql, keys, now);
  if (until) return until;
  await insertJob(sql, { id: randomUUID(), queue: resetQueueName, isWaitedFor: true, payload: request, madeAt: now });
  return null;
}

/**
 * Works off the requests: looks up the name and queues the email that helps. The visitor was answered long before, so the answer
 * reveals nothing by its time or its words.
 */
export function resetQueue(deps: Deps): Queue<ResetRequest> {
  return {
    name: resetQueueName,
    atOnce: 1,

    async perform({ id, payload }) {
      const { fold, address } = payload;
      const outcome = await deps.sql.begin(async (sql) => {
        const seen = { address, rpId: deps.config.passkeys?.id ?? null };
        const user = (await findResetUsersForUpdate(sql, [fold], seen)).get(fold);
        const outcome = user ? await help(deps, sql, user, payload) : 'unknown-user';
        await insertAuditEvent(sql, eventOf(payload, outcome, user), deps.now());
        // False if another instance has answered it, because this one stood still for longer than its lease.
        return (await deleteJob(sql, id)) ? outcome : new RollBack(null);
      });
      if (outcome?.endsWith('-mailed')) deps.wake.mails();
      return 'done';
    },

    async giveUp(sql, { payload }) {
      await insertAuditEvent(sql, eventOf(payload, 'given-up'), deps.now());
    },
  };
}

function eventOf({ address, requestId }: ResetRequest, reason: ResetOutcome, user?: ResetUser) {
  const who = user && { userId: user.id, username: user.username, ...customersOfEvent(user.customers) };
  return { event: 'password-forgotten', reason, address, requestId, ...who } as const;
}

type Help = 'resetLink' | 'singleSignOnHint' | 'passkeyHint' | 'noReset';

/** Which email helps: a link, or words about another way to sign in, or that there is none. */
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

/** Queues the email, unless one is waiting to be sent or the account has had its number for this hour. */
async function help(
  { now: clock, keys }: Deps,
  sql: Connection,
  user: ResetUser,
  { address, language, destination }: ResetRequest,
): Promise<ResetOutcome> {
  const now = clock();
  const kind = helpFor(user);
  if (await isMailWaiting(sql, user.id, kind)) return 'on-its-way';
  const limit = { freeFailures: limits.resetMailsAnHour, leakEvery: hour, firstWait: hour, longestWait: hour };
  if (await countAttempt(sql, [{ key: `reset-mail:${user.id}`, limit }], now)) return 'too-many-mails';

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
