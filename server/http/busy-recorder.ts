import type { FastifyRequest } from 'fastify';
import { insertAuditEvent } from '../audit/audit-event.ts';
import { referenceOfRequest } from '../audit/reference.ts';
import type { Deps } from '../deps.ts';
import { second } from '../limits.ts';
import { addressOf } from './guards.ts';

/** That there were too many is recorded so often, by each instance. */
const busyRecordedEvery = 60 * second;

/**
 * Records that this instance is too busy for a request, once a minute, and returns the reference of the recorded one.
 * Remembered in memory: a flood must not cost a statement for each request. A failure to record breaks no answer.
 */
export function busyRecorder(deps: Deps): (request: FastifyRequest) => Promise<string> {
  let last = { reference: '', until: 0 };
  return async function recordBusy(request) {
    const now = deps.now();
    if (now.getTime() < last.until) return last.reference;
    const reference = referenceOfRequest(request.id);
    last = { reference, until: now.getTime() + busyRecordedEvery };
    const address = addressOf(deps, request);
    const event = { event: 'too-busy', requestId: request.id, ...(address && { address }) } as const;
    await insertAuditEvent(deps.sql, event, now).catch((error: unknown) =>
      request.log.error({ err: error }, 'that this instance is too busy could not be recorded'),
    );
    return reference;
  };
}
