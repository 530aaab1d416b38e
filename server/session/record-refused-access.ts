import type { FastifyRequest } from 'fastify';
import type { SessionAnswer } from '#contract/payloads.ts';
import { referenceOfRequest } from '../audit/reference.ts';
import type { Deps } from '../deps/deps.ts';
import { addressOf } from '../http/guards.ts';
import { recordable, splitUrl } from '../http/request-url.ts';
import { insertEventOnceAMinute } from '../storage/sign-in.ts';
import { accessKey } from '../storage/throttle-keys.ts';

/** Whom a rule kept out: `page` is what they asked for, null if the proxy did not say; `rule` whom it lets through. */
export type RefusedAccess = { userId: string; person: SessionAnswer; page: string | null; rule: string };

/**
 * Records once a minute for a user and a rule that it kept them out, and returns the reference of the recorded request. A
 * failure to record must not break the refusal.
 */
export async function recordRefusedAccess(
  deps: Deps,
  request: FastifyRequest,
  { userId, person, page, rule }: RefusedAccess,
): Promise<string> {
  const address = addressOf(deps, request);
  const event = {
    event: 'access-refused' as const,
    userId,
    username: person.username,
    ...(person.customers.length > 0 && { customerKey: person.customers.join(', ') }),
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

const longestRule = 256;
