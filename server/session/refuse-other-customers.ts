import type { FastifyReply, FastifyRequest } from 'fastify';
import { languageOfTag } from '#contract/languages.ts';
import type { SessionAnswer } from '#contract/payloads.ts';
import { queryNames } from '#contract/screens.ts';
import type { Deps } from '../deps/deps.ts';
import { sendProblem } from '../http/refuse.ts';
import { splitUrl } from '../http/request-url.ts';
import { pageBehindProxy } from './page-behind-proxy.ts';
import { recordRefusedAccess } from './record-refused-access.ts';

/** What somebody asked for, and the customers that may see it. */
type NotTheirs = { userId: string; person: SessionAnswer; customers: readonly string[] };

/** Refuses somebody who is signed in but belongs to none of the customers that may see what they asked for. */
export async function refuseOtherCustomers(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { userId, person, customers }: NotTheirs,
): Promise<FastifyReply> {
  const page = pageBehindProxy(deps, request);
  const rule = customers.toSorted().join(', ');
  const reference = await recordRefusedAccess(deps, request, { userId, person, page, rule });
  if (page === null) {
    const detail = 'The signed-in user belongs to none of the customers that may see this.';
    return sendProblem(reply, 403, { title: 'Not open to this user', detail });
  }
  // Its form and its language menu are those of the page's address.
  const lang = new URLSearchParams(splitUrl(page).search).get(queryNames.language);
  const language = languageOfTag(lang ?? '');
  return await deps.pages.send(request, reply, 403, {
    url: page,
    ...(language && { language }),
    serverPage: { name: 'notForYou', username: person.username, comesBackTo: page },
    reference,
  });
}
