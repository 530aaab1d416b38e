import type { FastifyReply, FastifyRequest } from 'fastify';
import { languageOfTag } from '#contract/languages.ts';
import { queryNames } from '#contract/screens.ts';
import { insertEventOnceAMinute } from '../audit/audit-event.ts';
import { referenceOfRequest } from '../audit/reference.ts';
import type { Deps } from '../deps.ts';
import { addressOf } from '../http/guards.ts';
import { sendProblem } from '../http/refuse.ts';
import { recordable, splitUrl } from '../http/request-url.ts';
import { accessKey } from '../throttle/throttle-keys.ts';
import type { Identity } from './hub-tokens.ts';

/** Who asked, for which page (null if the proxy did not say), and the customers that may see it. */
type NotTheirs = { identity: Identity; page: string | null; customers: readonly string[] };

const longestRule = 256;

/** Refuses somebody who is signed in but belongs to none of the customers that may see what they asked for. */
export async function refuseOtherCustomers(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  notTheirs: NotTheirs,
): Promise<FastifyReply> {
  const { identity, page } = notTheirs;
  const reference = await recordRefusal(deps, request, notTheirs);
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
    serverPage: { name: 'notForYou', username: identity.person.username, comesBackTo: page },
    reference,
  });
}

/**
 * Records the refusal once a minute for a user and a rule, and returns the reference of the recorded request. A failure to
 * record must not break the refusal.
 */
async function recordRefusal(
  deps: Deps,
  request: FastifyRequest,
  { identity: { userId, person }, page, customers }: NotTheirs,
): Promise<string> {
  const rule = customers.toSorted().join(', ');
  const address = addressOf(deps, request);
  const event = {
    event: 'access-refused' as const,
    userId,
    username: person.username,
    customerKey: person.customers.join(', '),
    ...(address && { address }),
    requestId: request.id,
    steps: [
      { step: 'page', outcome: page === null ? 'not told by the proxy' : recordable(splitUrl(page).path) },
      { step: 'open to customers', outcome: rule.slice(0, longestRule) },
    ],
  };
  try {
    return await insertEventOnceAMinute(deps.sql, event, accessKey(userId, rule), deps.now());
  } catch (error) {
    request.log.error({ err: error }, 'a refused access could not be recorded');
    return referenceOfRequest(request.id);
  }
}
