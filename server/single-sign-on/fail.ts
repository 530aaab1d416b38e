import type { FastifyReply, FastifyRequest } from 'fastify';
import { defaultDestination } from '#contract/destination.ts';
import type { AuditStep } from '../audit/audit-events.ts';
import type { Deps } from '../deps/deps.ts';
import { turnAway } from '../sign-in/turn-away.ts';
import type { SsoConnection } from '../storage/sso-connection.ts';
import { forgetConnection } from '../visitor/remembered-connection.ts';
import { visitorOf } from '../visitor/visitor.ts';
import { type Refusal, refusalFor } from './identity.ts';
import { recordSsoFailure } from './record-failure.ts';
import { type slowDown, slowDownForFailure } from './slow-down.ts';

/** The failure page of an answer, over `first` if given; only the operator sees why. */
export async function fail(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { reason, words, isCancelled }: Refusal,
  {
    protocol,
    address,
    connection = null,
    destination = defaultDestination(deps.config.basePath),
    lang,
    typed = null,
    first,
    slow = slowDownForFailure,
  }: {
    protocol: SsoConnection['protocol'];
    address: string;
    connection?: SsoConnection | null;
    destination?: string;
    lang?: string | undefined;
    typed?: string | null;
    first?: string;
    slow?: typeof slowDown;
  },
): Promise<FastifyReply> {
  if (await slow(deps, request, reply, address)) return reply;
  if (connection) forgetConnection(deps, request, reply);
  const steps: AuditStep[] = [{ step: 'answer', outcome: words }];
  const reference = await recordSsoFailure(deps, { reason, connection, steps, address, requestId: request.id });
  return turnAway(
    reply,
    deps.config,
    { type: protocol, reference, username: typed ?? '', ...(isCancelled && { notice: 'signInCancelled' }) },
    { destination, lang, address, first },
  );
}

/**
 * The same for an answer to a visit that this browser has not begun, or no longer: its other tab may have signed somebody in
 * meanwhile, who is led on.
 */
export async function failAtOtherBrowser(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { protocol, address }: { protocol: SsoConnection['protocol']; address: string },
): Promise<FastifyReply> {
  const refusal = refusalFor('other-browser', 'this browser brought the answer, but another one began');
  const isIn = (await visitorOf(deps, request).who()).kind === 'full';
  const onwards = isIn ? { first: defaultDestination(deps.config.basePath) } : {};
  return await fail(deps, request, reply, refusal, { protocol, address, ...onwards });
}
