import type { FastifyRequest } from 'fastify';
import type { Deps } from '../deps/deps.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';

/** Records that a sign-in succeeded whose destination may not be gone to. */
export async function recordRefusedDestination(
  { sql, now }: Pick<Deps, 'sql' | 'now'>,
  { id: requestId }: FastifyRequest,
  address: string,
): Promise<void> {
  await insertAuditEvent(sql, { event: 'destination-refused', requestId, address }, now());
}
