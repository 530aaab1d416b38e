import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isEmailAddress } from '#contract/addresses.ts';
import { languageOfTag } from '#contract/languages.ts';
import type { Page } from '#contract/page.ts';
import { ForgottenForm } from '#contract/payloads.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import { insertAuditEvent, insertEventOnceAMinute } from '../audit/audit-event.ts';
import { customersOfEvent, type RefusalReason } from '../audit/audit-events.ts';
import { tokenHash } from '../crypto/token.ts';
import { type Connection, RollBack } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { formAgain, formKeeper } from '../http/form-again.ts';
import { refuse } from '../http/refuse.ts';
import { destinationOfAddress, languageOfRequest, languageOverride, wantsPage } from '../http/request-url.ts';
import { deleteJob, insertJob, type Queue } from '../jobs/job.ts';
import { hour, limits } from '../limits.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { foldLoginName } from '../names/read-name.ts';
import { keptForm } from '../sessions/destination.ts';
import { visitorOf } from '../sessions/visitor.ts';
import { countAttempt } from '../throttle/throttle.ts';
import { recordKey, resetKeys } from '../throttle/throttle-keys.ts';
import { findResetUsersForUpdate, makeLink, type ResetUser } from './reset-link.ts';

const resetQueueName = 'reset-request';

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
        const user = (await findResetUsersForUpdate(sql, [fold], address)).get(fold);
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

function eventOf({ address, requestId }: ResetRequest, reason: RefusalReason, user?: ResetUser) {
  const who = user && { userId: user.id, username: user.username, ...customersOfEvent(user.customers) };
  return { event: 'password-forgotten', reason, address, requestId, ...who } as const;
}

type Help = 'resetLink' | 'singleSignOnHint' | 'noReset';

/** Which email helps: a link, or words about another way to sign in, or that there is none. */
function helpFor(user: ResetUser): Help {
  if (!user.active || user.customers.length === 0) return 'noReset';
  if (user.ssoRequired) return 'singleSignOnHint';
  if (user.passwordHash === null && (user.ssoPossible || !user.mayChangePassword)) return 'singleSignOnHint';
  return user.mayChangePassword ? 'resetLink' : 'noReset';
}

const outcomes = {
  resetLink: 'link-mailed',
  singleSignOnHint: 'single-sign-on-mailed',
  noReset: 'no-reset-mailed',
} as const satisfies Record<Help, RefusalReason>;

/** Queues the email, unless the account has had its number for this hour. */
async function help(
  { now: clock, keys }: Deps,
  sql: Connection,
  user: ResetUser,
  { address, language, destination }: ResetRequest,
): Promise<RefusalReason> {
  const now = clock();
  const kind = helpFor(user);
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

export const forgottenSchema = { body: ForgottenForm };

/** `POST password/forgotten`: 204, or 303 without JavaScript, before the name is looked up: nothing depends on it. */
export function forgottenRoute(deps: Deps) {
  return async function forgotten(request: FastifyRequest<{ Body: ForgottenForm }>, reply: FastifyReply) {
    const destination = destinationOfAddress(request, deps.config);
    const isPage = wantsPage(request);
    const isReadable = request.validationError === undefined && isEmailAddress(request.body.username);
    if (!isReadable && isPage) {
      const again = { screen: 'forgotten', status: 400, notice: 'emailMalformed', destination } as const;
      return await formAgain(deps, reply, again, keptOf(deps, request.body));
    }
    if (request.validationError) throw request.validationError;
    const visitor = visitorOf(deps, request);
    if (!isReadable) {
      const problem = { detail: 'username must be an email address', field: 'username' };
      return await refuse(deps, reply, 400, problem);
    }
    const { address } = visitor;
    const now = deps.now();
    const asked: ResetRequest = {
      fold: foldLoginName(request.body.username),
      language: languageOfRequest(request),
      address,
      requestId: request.id,
      destination: destination ?? null,
    };
    // The same statements for every name.
    const until = await countAttempt(deps.sql, resetKeys(address), now);
    if (until) {
      const event = {
        event: 'password-forgotten',
        reason: 'throttled-address',
        address,
        requestId: request.id,
      } as const;
      const reference = await insertEventOnceAMinute(deps.sql, event, recordKey('reset-throttled', address), now);
      const retryAfter = until.getTime() - now.getTime();
      if (!isPage) return await refuse(deps, reply, 429, { retryAfter });
      const again = { screen: 'forgotten', status: 429, notice: 'tooManyAttempts', destination } as const;
      return await formAgain(deps, reply, { ...again, retryAfter, reference }, keptOf(deps, request.body));
    }
    const id = randomUUID();
    await insertJob(deps.sql, { id, queue: resetQueueName, isWaitedFor: true, payload: asked, madeAt: now });
    reply.raw.once('finish', deps.wake.resetRequests);
    if (!isPage) return reply.code(204).send();
    const query = { [queryNames.destination]: destination, [queryNames.language]: languageOverride(request) };
    return reply.redirect(screenUrl(deps.config.basePath, 'emailInfo', query), 303);
  };
}

export function forgottenFormAgain(deps: Deps) {
  return formKeeper(deps, 'forgotten', (form, request) => ({
    destination: destinationOfAddress(request, deps.config),
    page: keptOf(deps, form),
  }));
}

function keptOf({ config }: Deps, form: Partial<ForgottenForm> | undefined): Partial<Page> {
  return { typedUsername: keptForm(config, { username: form?.username ?? '' }).typedUsername };
}
