import type { FastifyReply, FastifyRequest } from 'fastify';
import { defaultDestination } from '#contract/destination.ts';
import type { Notice } from '#contract/notices.ts';
import { insertAuditEvent, insertEventOnceAMinute } from '../audit/audit-event.ts';
import type { AuditStep, SsoRefusalReason } from '../audit/audit-events.ts';
import { newReference } from '../audit/reference.ts';
import type { Deps } from '../deps.ts';
import { refuse } from '../http/refuse.ts';
import { wantsPage } from '../http/request-url.ts';
import { forgetConnection } from '../sessions/visit.ts';
import { visitorOf } from '../sessions/visitor.ts';
import { refuseSignIn } from '../sign-in/answer-sign-in.ts';
import { countAttempt } from '../throttle/throttle.ts';
import { keyOf, recordKey } from '../throttle/throttle-keys.ts';
import type { Refusal } from './provider-answer.ts';
import type { SsoConnection } from './sso-connection.ts';

/** Leads to the failure page, or to `first` before it. Only the operator sees why. */
export async function fail(
  deps: Deps,
  reply: FastifyReply,
  { reason, words }: Refusal,
  {
    protocol,
    connection = null,
    destination = defaultDestination(deps.config.basePath),
    lang,
    typed = null,
    first,
    notice = noticeOf[reason],
    isAnswer = true,
  }: {
    protocol: SsoConnection['protocol'];
    connection?: SsoConnection | null;
    destination?: string;
    lang?: string | undefined;
    typed?: string | null;
    first?: string;
    notice?: Notice | undefined;
    /** False of a visitor who cannot be sent to a provider, and was counted before. */
    isAnswer?: boolean;
  },
): Promise<FastifyReply> {
  if (isAnswer && (await slowDown(deps, reply, 'failed answers'))) return reply;
  if (connection) forgetConnection(deps, reply);
  const steps: AuditStep[] = [{ step: isAnswer ? 'answer' : 'start', outcome: words }];
  const reference = await recordSsoFailure(deps, reply.request, { reason, connection, steps });
  return refuseSignIn(
    reply,
    deps.config,
    { type: protocol, reference, username: typed ?? '', ...(notice && { notice }) },
    { destination, lang, first },
  );
}

/** What people are told. Of the other reasons, nobody may find out whether it is the address or a permission. */
export const noticeOf: Partial<Record<SsoRefusalReason, Notice>> = {
  'provider-unreachable': 'providerSilent',
  'connection-broken': 'providerSilent',
  'answer-invalid': 'providerSilent',
  'provider-refused': 'signInCancelled',
  'other-browser': 'signInExpired',
  'request-unknown': 'signInExpired',
  'provider-session-over': 'signInExpired',
};

type SsoFailure = {
  reason: SsoRefusalReason;
  connection: SsoConnection | null;
  user?: { id: string; username: string };
  steps: AuditStep[];
};

/** Records the failure; visitors read out the reference. */
export async function recordSsoFailure(
  deps: Deps,
  request: FastifyRequest,
  { reason, connection, user, steps }: SsoFailure,
): Promise<string> {
  const { address, browser, requestId } = visitorOf(deps, request);
  const reference = newReference();
  await insertAuditEvent(
    deps.sql,
    {
      event: 'sso-refused',
      reason,
      reference,
      ...{ steps, address, browser, requestId },
      ...(connection && { connection: connection.key, customerKey: connection.customerKey }),
      ...(user && { userId: user.id, username: user.username }),
    },
    deps.now(),
  );
  deps.metrics.singleSignOn.inc({ connection: connection?.key ?? 'none', outcome: reason });
  deps.metrics.signIns.inc({ method: connection?.protocol ?? 'unknown', outcome: reason });
  return reference;
}

/** Answers 429 with the form; `retryAfter` in milliseconds, `reference` for the page. */
export type GiveAgain = (wait: { retryAfter: number; reference: string }) => Promise<FastifyReply>;

/**
 * What is counted of an address, each by itself: visits, which add rows; failed answers, which an image on any page can make
 * a browser send, and which must not keep others from beginning a visit; and refused logouts in a provider's name.
 */
const counted = { visits: 'sso', 'failed answers': 'answer', 'refused logouts': 'provider-logout' } as const;

/**
 * Whether a visitor has to wait: then the request has been answered, by `giveAgain` for a person who sent a form, and the
 * caller is done.
 */
export async function slowDown(
  deps: Deps,
  reply: FastifyReply,
  of: keyof typeof counted,
  giveAgain?: GiveAgain,
): Promise<boolean> {
  const { id: requestId, address } = reply.request;
  const now = deps.now();
  const until = await countAttempt(deps.sql, [keyOf(counted[of], { address })], now);
  if (until === null) return false;
  const steps = [{ step: 'throttle', outcome: `${of} from this address: wait until ${until.toISOString()}` }];
  const event = { event: 'sso-refused', reason: 'throttled', address, requestId, steps } as const;
  const reference = await insertEventOnceAMinute(deps.sql, event, recordKey('throttled:sso', address), now);
  const wait = { retryAfter: until.getTime() - now.getTime(), reference };
  if (giveAgain && wantsPage(reply.request)) await giveAgain(wait);
  else await refuse(deps, reply, 429, wait);
  return true;
}
