import type { FastifyReply, FastifyRequest } from 'fastify';
import { referenceOfRequest } from '../audit/reference.ts';
import type { Deps } from '../deps/deps.ts';
import { sendProblem } from '../http/refuse.ts';
import { wantsPage } from '../http/request-url.ts';
import { recordRefusedAccess } from '../session/record-refused-access.ts';
import type { Access } from './access.ts';
import type { Identity } from './admit.ts';
import { pageAskedFor } from './page-asked-for.ts';

/**
 * Answers in the hub's place: a page for a person, a problem document for a script. The address stays the hub's, so that a
 * reload asks it again; what was sent is never sent again by us.
 */
export async function refuseForHub(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  status: 502 | 504,
): Promise<FastifyReply> {
  if (wantsPage(request))
    return await deps.pages.send(request, reply, status, {
      serverPage: {
        name: 'problem',
        status,
        retryAfterSeconds: null,
        again: request.method === 'GET' ? 'open' : 'goBack',
      },
      reference: referenceOfRequest(request.id),
    });
  return sendProblem(reply, status);
}

/** Refuses somebody who is signed in, but as a user of none of the customers that the path is for. */
export async function refuseAccess(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { identity, access }: { identity: Identity; access: Extract<Access, { kind: 'signedIn' }> },
): Promise<FastifyReply> {
  const { userId, person } = identity;
  const rule = access.oneOfEach.map((group) => group.join(', ')).join('; and ');
  const reference = await recordRefusedAccess(deps, request, { userId, person, page: request.url, rule });
  if (wantsPage(request))
    return await deps.pages.send(request, reply, 403, {
      serverPage: {
        name: 'notForYou',
        username: person.username,
        comesBackTo: pageAskedFor(deps.config, request),
      },
      reference,
    });
  return sendProblem(reply, 403, { title: 'Not open to this user' });
}
