import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuditEvent } from '../audit/audit-events.ts';
import type { Deps } from '../deps.ts';
import { refuse } from '../http/refuse.ts';
import { insertEventOnceAMinute } from '../storage/sign-in.ts';
import { countAttempt } from '../storage/throttle.ts';
import { ssoKeys } from '../throttle/throttle-keys.ts';

/**
 * Counts a visit to a provider, or an answer that leads nowhere: each leaves rows behind. Null when it may go on; else
 * the answer that says to wait. A whole company comes from one address, so there is room for one.
 */
export async function slowDown(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  address: string,
): Promise<FastifyReply | null> {
  const now = deps.now();
  const until = await countAttempt(deps.sql, ssoKeys(address), now);
  if (!until) return null;
  const steps = [{ step: 'throttle', outcome: `visits from this address: wait until ${until.toISOString()}` }];
  const event: AuditEvent = { event: 'sso-refused', reason: 'throttled', address, requestId: request.id, steps };
  await insertEventOnceAMinute(deps.sql, event, `throttled:sso:${address}`, now);
  return await refuse(deps, request, reply, 429, { retryAfter: until.getTime() - now.getTime() });
}
