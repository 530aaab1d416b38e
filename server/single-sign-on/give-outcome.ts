import type { FastifyReply, FastifyRequest } from 'fastify';
import { defaultDestination } from '#contract/destination.ts';
import { queryNames } from '#contract/screens.ts';
import { forOtherAccount } from '#contract/sign-out-question.ts';
import type { Deps } from '../deps/deps.ts';
import { endVisit } from '../http/visit-cookies.ts';
import { signOutQuestionUrl } from '../session/sign-out-question.ts';
import { letIn } from '../sign-in/let-in.ts';
import { toSingleSignOn } from '../sign-in/to-single-sign-on.ts';
import { turnAway } from '../sign-in/turn-away.ts';
import type { SsoConnection } from '../storage/sso-connection.ts';
import type { SsoRequestRow } from '../storage/sso-request.ts';
import { endAskingAfresh, giveUpAskingAfresh, goOnAskingAfresh } from '../visitor/ask-afresh.ts';
import { forgetConnection, rememberConnection } from '../visitor/remembered-connection.ts';
import { depart } from './depart.ts';
import type { Outcome } from './outcome.ts';
import { providerBeganUrl } from './provider-began-route.ts';
import { type RequestDetails, wayOf } from './request-details.ts';
import { slowDown } from './slow-down.ts';

/** A visit that is over; its details and connection may be gone. */
export type EndedVisit = { row: SsoRequestRow; details: RequestDetails | null; connection: SsoConnection | null };

/**
 * Sends the browser to the result of its visit, and clears the visit's cookies, the same for the same outcome.
 */
export async function giveOutcome(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { row, details, connection }: EndedVisit,
  { outcome, address }: { outcome: Outcome; address: string },
): Promise<FastifyReply> {
  const { config } = deps;
  const { typed, ...rest } = details
    ? wayOf(details)
    : { typed: null, destination: defaultDestination(config.basePath), lang: undefined };
  const way = { ...rest, address };
  if (outcome.kind === 'signedIn' || outcome.kind === 'secondFactor') {
    if (outcome.kind === 'signedIn') {
      rememberConnection(deps, reply, row.connectionId);
      if (connection) endAskingAfresh(request, reply, config, connection);
    }
    return letIn(request, reply, config, outcome, { ...way, username: typed });
  }
  endVisit(request, reply, config, row.stateHash);
  if (outcome.kind === 'otherAccount') {
    const { destination, lang } = way;
    const query = { [queryNames.destination]: destination, lang };
    return reply.redirect(signOutQuestionUrl(config.basePath, forOtherAccount, query), 303);
  }
  if (outcome.kind === 'refused') {
    const { type, reference, isCancelled, isUnable, forgets } = outcome;
    if (forgets) forgetConnection(deps, request, reply);
    if (details?.isAfterSignOut && details.isAfresh) {
      if (isCancelled) goOnAskingAfresh(request, reply, config);
      else if (isUnable) giveUpAskingAfresh(request, reply, config);
    }
    const refusal = {
      type,
      reference,
      username: typed ?? '',
      ...(isCancelled && { notice: 'signInCancelled' as const }),
    };
    return turnAway(reply, config, refusal, way);
  }
  if (outcome.kind === 'ended') return toSingleSignOn(reply, config, { notice: 'signInExpired', username: typed }, way);
  if (!connection) throw new Error('A visit leads to a connection that was there');
  if (outcome.kind === 'providerBegan') return reply.redirect(providerBeganUrl(deps, connection), 303);
  if (await slowDown(deps, request, reply, address)) return reply;
  const providerBegan = details?.providerBegan === true;
  return await depart(deps, request, reply, connection, { ...way, typed, providerBegan, isAfresh: true });
}
