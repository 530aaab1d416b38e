import type { FastifyRequest } from 'fastify';
import type { Deps } from '../deps/deps.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { insertEventOnceAMinute } from '../storage/event-once-a-minute.ts';
import { recordKey } from '../storage/throttle-keys.ts';

/** Records that a provider ended sessions: one event per person. */
export async function recordEndedByProvider(
  deps: Deps,
  request: FastifyRequest,
  ended: readonly { userId: string; username: string }[],
  { connection, address }: { connection: string; address: string },
): Promise<void> {
  for (const [userId, username] of new Map(ended.map((one) => [one.userId, one.username]))) {
    const outcome = `${ended.filter((one) => one.userId === userId).length} ended`;
    const more = { connection, address, requestId: request.id, steps: [{ step: 'sessions', outcome }] };
    await insertAuditEvent(deps.sql, { event: 'signed-out-by-provider', userId, username, ...more }, deps.now());
  }
}

/** Records a refused logout that claims to be a provider's, once a minute per address. */
export async function recordLogoutRefusal(
  { sql, now }: Deps,
  request: FastifyRequest,
  { step, words }: { step: string; words: string },
  { connection, address }: { connection?: string | undefined; address: string },
): Promise<void> {
  const steps = [{ step, outcome: words }];
  await insertEventOnceAMinute(
    sql,
    { event: 'provider-logout-refused', requestId: request.id, address, steps, ...(connection && { connection }) },
    recordKey(step, address),
    now(),
  );
}
