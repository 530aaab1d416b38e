import type { FastifyReply, FastifyRequest } from 'fastify';
import { otherCustomers } from '#contract/page.ts';
import { referenceOfRequest } from '../audit/reference.ts';
import type { Deps } from '../deps/deps.ts';
import { sendProblem } from '../http/refuse.ts';
import { wantsPage } from '../http/request-url.ts';

/**
 * Answers in the hub's place: a page for a person, a problem document for a script. The address stays the hub's, so that a
 * reload asks it again.
 */
export async function refuseForHub(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  status: 502 | 504 | typeof otherCustomers,
): Promise<FastifyReply> {
  const code = status === otherCustomers ? 403 : status;
  if (wantsPage(request))
    return await deps.pages.send(request, reply, code, {
      serverPage: { name: 'problem', status, retryAfterSeconds: null },
      reference: referenceOfRequest(request.id),
    });
  const title = 'Not open to the customers of this user';
  return sendProblem(reply, code, code === 403 ? { title } : {});
}
