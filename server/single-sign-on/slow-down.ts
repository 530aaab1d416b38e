import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuditEvent, SsoRefusalReason } from '../audit/audit-events.ts';
import type { Deps } from '../deps.ts';
import { refuse } from '../http/refuse.ts';
import { insertEventOnceAMinute } from '../storage/sign-in.ts';
import { countAttempt, findWait } from '../storage/throttle.ts';
import { failedAnswerKeys, samlFailureKeys, ssoKeys, type ThrottleKey } from '../throttle/throttle-keys.ts';

/**
 * Counts a visit to a provider, which leaves rows behind. True when it was answered that the visitor has to wait, and
 * nothing more is to be done. A whole company comes from one address, so there is room for one.
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
 * The same for an answer that leads nowhere. It counts apart: an image on any page can have a browser bring one, and must
 * not keep those of its address from beginning a visit.
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
 * The same for a SAML answer, of which there is less room when nobody has vouched for it. One that is verified and was
 * used before may be of anybody in a company, posted twice by a browser.
 */
export function slowDownForAnswer(reason: SsoRefusalReason): typeof slowDown {
  if (!unverified.includes(reason)) return slowDownForFailure;
  return async (deps, request, reply, address) =>
    await count(deps, request, reply, address, [...failedAnswerKeys(address), ...samlFailureKeys(address)]);
}

const unverified: readonly SsoRefusalReason[] = ['answer-invalid', 'provider-began', 'request-unknown'];

/** Whether a SAML answer of this address is not looked at, since so many let nobody in; it was told to wait then. */
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
