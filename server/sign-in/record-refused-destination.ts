import type { FastifyRequest } from 'fastify';
import type { Deps } from '../deps/deps.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';

/**
 * Records that a sign-in whose destination may not be gone to succeeded, or that one was begun at a provider: each, as both
 * are throttled before.
 */
export async function recordRefusedDestination(
  { sql, now }: Pick<Deps, 'sql' | 'now'>,
  { id: requestId }: FastifyRequest,
  address: string,
): Promise<void> {
  await insertAuditEvent(sql, { event: 'destination-refused', requestId, address }, now());
}
