import type { FastifyReply, FastifyRequest } from 'fastify';
import { queryNames } from '#contract/screens.ts';
import type { Deps } from '../deps.ts';
import { signOutQuestionUrl } from '../sessions/end-sessions.ts';
import { forgetConnection, rememberConnection } from '../sessions/remembered-connection.ts';
import type { Visitor } from '../sessions/visitor.ts';
import { letIn, refuseSignIn } from '../sign-in/answer-sign-in.ts';
import { beginVisit } from './begin-visit.ts';
import type { ClaimedVisit } from './claim-visit.ts';
import { askedOf } from './claim-visit.ts';
import { fail } from './fail.ts';
import { type ProviderAnswer, type Refusal, refusalFor, tooLongAgo } from './provider-answer.ts';
import { signInByProvider } from './sign-in-by-provider.ts';
import { slowDown } from './slow-down.ts';

/** Leads on from a claimed visit whose answer was read: into a session, or to the page that says why not. */
export async function finishVisit(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  visitor: Visitor,
  { visit, details, connection }: ClaimedVisit,
  answer: ProviderAnswer,
): Promise<FastifyReply> {
  const { config } = deps;
  const { address } = visitor;
  const { protocol } = connection;
  const { typed, ...where } = askedOf(details);
  const asked = { ...where, address };
  const username = typed ?? '';
  const no = (refusal: Refusal) =>
    fail(deps, request, reply, refusal, { ...asked, typed, protocol, connection, visit });
  if (answer.kind === 'refused') return await no(answer);
  const tooOld = tooLongAgo(connection, answer.identity, deps.now());
  // SAML cannot express a maximum age: a person the provider did not ask again is sent back to be asked.
  const isAskedAgain = tooOld !== null && protocol === 'saml' && !details.freshSignIn;
  if (tooOld && !isAskedAgain) return await no(refusalFor('authentication-too-old', tooOld));
  if (isAskedAgain) {
    if (await slowDown(deps, request, reply, address)) return reply;
    return await beginVisit(deps, request, reply, connection, { ...asked, typed, freshSignIn: true });
  }
  const result = await signInByProvider(deps, { visit, connection, identity: answer.identity }, visitor);
  switch (result.kind) {
    case 'signedIn':
    case 'secondFactor':
      if (result.kind === 'signedIn') rememberConnection(deps, reply, connection.id);
      return await letIn(deps, reply, result, { ...asked, username: typed, byProvider: true });
    case 'somebodyElse': {
      const query = { [queryNames.destination]: asked.destination, lang: asked.lang };
      return reply.redirect(signOutQuestionUrl(config.basePath, query), 303);
    }
    case 'refused':
      forgetConnection(deps, request, reply);
      return refuseSignIn(reply, config, { ...result, type: protocol, username }, asked);
    case 'networkRefused':
      return refuseSignIn(reply, config, { ...result, type: 'ip', username }, asked);
  }
}
