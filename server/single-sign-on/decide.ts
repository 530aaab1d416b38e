import type { FastifyReply, FastifyRequest } from 'fastify';
import { queryNames } from '#contract/screens.ts';
import type { Deps } from '../deps/deps.ts';
import { signOutQuestionUrl } from '../session/sign-out-question.ts';
import { letIn } from '../sign-in/let-in.ts';
import { turnAway } from '../sign-in/turn-away.ts';
import { findSsoConnection, type SsoConnection } from '../storage/sso-connection.ts';
import type { SsoRequestRow } from '../storage/sso-request.ts';
import { forgetConnection, rememberConnection } from '../visitor/remembered-connection.ts';
import type { KnownVisitor } from '../visitor/visitor.ts';
import { tooLongAgo } from './authentication-age.ts';
import { depart } from './depart.ts';
import { fail } from './fail.ts';
import { type Identity, type Refusal, refusalFor } from './identity.ts';
import { detailsOf, type RequestDetails, waitingAnswer, wayOf } from './request-details.ts';
import { signInByProvider } from './sign-in-by-provider.ts';
import { slowDown } from './slow-down.ts';

/** Leads on from a visit that has just been taken: into a session, or to the page that says why not. */
export async function decide(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  visitor: KnownVisitor,
  { row, protocol }: { row: SsoRequestRow; protocol: SsoConnection['protocol'] },
): Promise<FastifyReply> {
  const { address } = visitor;
  const details = detailsOf(deps.keys, row);
  const connection = await findSsoConnection(deps.sql, row.connectionId);
  const no = async (refusal: Refusal) =>
    await fail(deps, request, reply, refusal, { protocol, address, connection, ...(details && wayOf(details)) });
  if (!details) return await no(refusalFor('request-unknown', 'no current secret can open it'));
  if (!connection?.active || connection.protocol !== protocol)
    return await no(refusalFor('connection-disabled', 'while the visitor was at the provider'));
  const answer = waitingAnswer(deps.keys, row)?.answer;
  if (!answer) return await no(refusalFor('request-unknown', 'the answer can no longer be read'));
  if (answer.kind === 'refused') return await no(answer);
  const tooOld = tooLongAgo(connection, answer.identity, deps.now());
  if (!tooOld) return await signIn(deps, request, reply, visitor, { row, details, connection }, answer.identity);
  // SAML cannot express a maximum age: a person the provider did not ask again is sent back to be asked.
  if (protocol !== 'saml' || details.isAfresh) return await no(refusalFor('authentication-too-old', tooOld));
  if (await slowDown(deps, request, reply, address)) return reply;
  return await depart(deps, request, reply, connection, { ...wayOf(details), address, isAfresh: true });
}

async function signIn(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  visitor: KnownVisitor,
  { row, details, connection }: { row: SsoRequestRow; details: RequestDetails; connection: SsoConnection },
  identity: Identity,
): Promise<FastifyReply> {
  const { config } = deps;
  const { typed, ...asked } = wayOf(details);
  const way = { ...asked, address: visitor.address };
  const result = await signInByProvider(deps, connection, { identity, visit: row }, visitor);
  if (result.kind === 'signedIn') rememberConnection(deps, reply, connection.id);
  if (result.kind === 'signedIn' || result.kind === 'secondFactor')
    return letIn(request, reply, config, result, { ...way, username: typed });
  switch (result.kind) {
    case 'somebodyElse': {
      const query = { [queryNames.destination]: way.destination, lang: way.lang };
      return reply.redirect(signOutQuestionUrl(config.basePath, query), 303);
    }
    case 'refused':
      forgetConnection(deps, request, reply);
      return turnAway(reply, config, { ...result, type: connection.protocol, username: typed ?? '' }, way);
    case 'networkRefused':
      return turnAway(reply, config, { ...result, type: 'ip', username: typed ?? '' }, way);
  }
}
