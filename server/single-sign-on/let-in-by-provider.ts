import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps.ts';
import { visitCookie } from '../http/visit-cookies.ts';
import { sessionOfRequest } from '../session/session-of-request.ts';
import { letIn, turnAway } from '../sign-in/let-in.ts';
import { visitorOf } from '../sign-in/visitor.ts';
import { endAskingAfresh } from './ask-afresh.ts';
import type { Identity } from './identity.ts';
import { askWho } from './other-account.ts';
import { forgetConnection, rememberConnection } from './remembered-connection.ts';
import { wayOf } from './request-details.ts';
import { signInByProvider } from './sign-in-by-provider.ts';
import { type Visit, visitsOfSamePerson } from './visits.ts';

/**
 * Signs in the person a provider vouched for at the end of a visit. If someone else is signed in here, the person is
 * asked first, unless `isAgreed` (docs/decisions/0029).
 */
export async function letInByProvider(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { row, details, connection }: Visit,
  { identity, address, isAgreed = false }: { identity: Identity; address: string; isAgreed?: boolean },
): Promise<FastifyReply> {
  const { config } = deps;
  const { typed } = details;
  const way = { ...wayOf(details), address };
  const session = isAgreed ? null : await sessionOfRequest(deps, request);
  const expected = session?.stage === 'full' ? session.userId : null;
  const vouched = { identity, visitId: row.id, expected };
  const result = await signInByProvider(deps, connection, vouched, visitorOf(deps, request, address));
  switch (result.kind) {
    case 'otherAccount':
      return await askWho(deps, request, reply, row, { identity, username: result.username });
    case 'refused':
    case 'networkRefused': {
      if (result.kind === 'refused') forgetConnection(deps, request, reply);
      const type = result.kind === 'refused' ? connection.protocol : 'ip';
      return turnAway(reply, config, { type, reference: result.reference, username: typed ?? '' }, way);
    }
  }
  endAskingAfresh(request, reply, config);
  if (result.kind === 'signedIn') rememberConnection(deps, reply, connection.id);
  const others = await visitsOfSamePerson(deps, request, { connection, typed });
  // This visit's own cookie is already gone.
  const stay = [...others, visitCookie(row.stateHash)];
  return letIn(request, reply, config, result, { ...way, username: typed, stay });
}
