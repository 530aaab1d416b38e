import type { FastifyReply, FastifyRequest } from 'fastify';
import { defaultDestination } from '#contract/destination.ts';
import type { Notice } from '#contract/notices.ts';
import { insertAuditEvent } from '../audit/audit-event.ts';
import type { AuditStep, SsoRefusalReason } from '../audit/audit-events.ts';
import { newReference } from '../audit/reference.ts';
import type { Deps } from '../deps.ts';
import { forgetConnection } from '../sessions/remembered-connection.ts';
import { updateVisitFailure, type Visit } from '../sessions/visit.ts';
import { refuseSignIn } from '../sign-in/answer-sign-in.ts';
import type { Refusal } from './provider-answer.ts';
import { slowDownForFailure } from './slow-down.ts';
import type { SsoConnection } from './sso-connection.ts';

/**
 * Leads to the failure page, or to `first` before it. Only the operator sees why. A visit of this browser keeps the reference.
 */
export async function fail(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { reason, words, isCancelled }: Refusal,
  {
    protocol,
    address,
    connection = null,
    visit = null,
    destination = defaultDestination(deps.config.basePath),
    lang,
    typed = null,
    first,
    notice = isCancelled ? 'signInCancelled' : undefined,
    isAnswer = true,
  }: {
    protocol: SsoConnection['protocol'];
    address: string;
    connection?: SsoConnection | null;
    visit?: Visit | null;
    destination?: string;
    lang?: string | undefined;
    typed?: string | null;
    first?: string;
    notice?: Notice | undefined;
    /** False of a visitor who cannot be sent to a provider, and was counted before. */
    isAnswer?: boolean;
  },
): Promise<FastifyReply> {
  if (isAnswer && (await slowDownForFailure(deps, request, reply, address))) return reply;
  if (connection) forgetConnection(deps, request, reply);
  const steps: AuditStep[] = [{ step: isAnswer ? 'answer' : 'start', outcome: words }];
  const reference = await recordSsoFailure(deps, { reason, connection, steps, address, requestId: request.id });
  if (visit) await updateVisitFailure(deps.sql, visit.id, reference);
  return refuseSignIn(
    reply,
    deps.config,
    { type: protocol, reference, username: typed ?? '', ...(notice && { notice }) },
    { destination, lang, address, first },
  );
}

/** A failed sign-in by a provider, as shown to an operator. */
type SsoFailure = {
  reason: SsoRefusalReason;
  connection: SsoConnection | null;
  user?: { id: string; username: string };
  steps: AuditStep[];
  address: string;
  requestId: string;
};

/** Records the failure; visitors read out the reference. */
export async function recordSsoFailure(deps: Deps, failure: SsoFailure): Promise<string> {
  const { reason, connection, user, steps, address, requestId } = failure;
  const reference = newReference();
  await insertAuditEvent(
    deps.sql,
    {
      event: 'sso-refused',
      reason,
      reference,
      steps,
      address,
      requestId,
      ...(connection && { connection: connection.key, customerKey: connection.customerKey }),
      ...(user && { userId: user.id, username: user.username }),
    },
    deps.now(),
  );
  deps.metrics.singleSignOn.inc({ connection: connection?.key ?? 'none', outcome: reason });
  deps.metrics.signIns.inc({ method: connection?.protocol ?? 'unknown', outcome: reason });
  return reference;
}
