import type { FastifyReply, FastifyRequest } from 'fastify';
import { insertEventOnceAMinute } from '../audit/audit-event.ts';
import type { Deps } from '../deps.ts';
import { refuse } from '../http/refuse.ts';
import { wantsPage } from '../http/request-url.ts';
import { countAttempt } from '../throttle/throttle.ts';
import { keyOf, recordKey, type ThrottleKind } from '../throttle/throttle-keys.ts';

/**
 * Whether a visitor has to wait: then the request has been answered, by `giveAgain` for a person who sent a form, and the
 * caller is done.
 */
type Brake = (
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  address: string,
  giveAgain?: GiveAgain,
) => Promise<boolean>;

/** `retryAfter` in milliseconds; `reference` for the page. */
type Wait = { retryAfter: number; reference: string };

/** Answers 429 with the form. */
export type GiveAgain = (wait: Wait) => Promise<FastifyReply>;

/**
 * Counts a visit to a provider, which adds rows. The limit leaves room for a whole company behind one address.
 */
export const slowDown = counting('visits from this address', 'sso');

/**
 * The same for a failed answer. Counted separately: an image on any page can make a browser send one, and must not
 * block others at its address from beginning a visit.
 */
export const slowDownForFailure = counting('answers from this address', 'answer');

/** The same for a refused logout that claims to be a provider's. */
export const slowDownForLogout = counting('refused logouts from this address', 'provider-logout');

function counting(what: string, kind: ThrottleKind): Brake {
  return async (deps, request, reply, address, giveAgain) => {
    const until = await countAttempt(deps.sql, [keyOf(kind, { address })], deps.now());
    return until !== null && (await tellToWait(deps, request, reply, address, { until, what, giveAgain }));
  };
}

async function tellToWait(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  address: string,
  { until, what, giveAgain }: { until: Date; what: string; giveAgain?: GiveAgain | undefined },
): Promise<true> {
  const now = deps.now();
  const steps = [{ step: 'throttle', outcome: `${what}: wait until ${until.toISOString()}` }];
  const event = { event: 'sso-refused', reason: 'throttled', address, requestId: request.id, steps } as const;
  const reference = await insertEventOnceAMinute(deps.sql, event, recordKey('throttled:sso', address), now);
  const wait = { retryAfter: until.getTime() - now.getTime(), reference };
  if (giveAgain && wantsPage(request)) await giveAgain(wait);
  else await refuse(deps, request, reply, 429, wait);
  return true;
}
