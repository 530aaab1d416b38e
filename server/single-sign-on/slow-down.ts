import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuditEvent, SsoRefusalReason } from '../audit/audit-events.ts';
import type { Deps } from '../deps/deps.ts';
import { refuse } from '../http/refuse.ts';
import { insertEventOnceAMinute } from '../storage/sign-in.ts';
import { countAttempt, findWait } from '../storage/throttle.ts';
import { failedAnswerKeys, samlFailureKeys, ssoKeys, type ThrottleKey } from '../storage/throttle-keys.ts';

/**
 * Counts a visit to a provider, which adds rows. True if the visitor has to wait: the request has been answered, and
 * the caller is done. The limit leaves room for a whole company behind one address.
 */
export async function slowDown(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  address: string,
): Promise<boolean> {
  return await count(deps, request, reply, address, ssoKeys(address));
}

/**
 * The same for a failed answer. Counted separately: an image on any page can make a browser send one, and must not
 * block others at its address from beginning a visit.
 */
export async function slowDownForFailure(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  address: string,
): Promise<boolean> {
  return await count(deps, request, reply, address, failedAnswerKeys(address));
}

/**
 * The same for a SAML answer, with a lower limit if nobody vouched for it. A verified one used before may be any
 * colleague's, posted twice by a browser.
 */
export function slowDownForAnswer(reason: SsoRefusalReason): typeof slowDown {
  if (!unverified.includes(reason)) return slowDownForFailure;
  return async (deps, request, reply, address) =>
    await count(deps, request, reply, address, [...failedAnswerKeys(address), ...samlFailureKeys(address)]);
}

const unverified: readonly SsoRefusalReason[] = ['answer-invalid', 'provider-began', 'request-unknown'];

/** Whether SAML answers from this address are refused unread after too many failures; if so, it has been answered. */
export async function waitsForSamlFailures(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  address: string,
): Promise<boolean> {
  const until = await findWait(deps.sql, samlFailureKeys(address), deps.now());
  if (until <= deps.now()) return false;
  await tellToWait(deps, request, reply, address, until);
  return true;
}

async function count(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  address: string,
  keys: ThrottleKey[],
): Promise<boolean> {
  const until = await countAttempt(deps.sql, keys, deps.now());
  if (!until) return false;
  await tellToWait(deps, request, reply, address, until);
  return true;
}

async function tellToWait(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  address: string,
  until: Date,
): Promise<void> {
  const now = deps.now();
  const steps = [{ step: 'throttle', outcome: `visits from this address: wait until ${until.toISOString()}` }];
  const event: AuditEvent = { event: 'sso-refused', reason: 'throttled', address, requestId: request.id, steps };
  await insertEventOnceAMinute(deps.sql, event, `throttled:sso:${address}`, now);
  await refuse(deps, request, reply, 429, { retryAfter: until.getTime() - now.getTime() });
}
