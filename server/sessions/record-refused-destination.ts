import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptableDestination } from '#contract/destination.ts';
import { queryNames } from '#contract/screens.ts';
import { insertEventOnceAMinute } from '../audit/event-once-a-minute.ts';
import type { Deps } from '../deps.ts';
import { queryValue } from '../http/request-url.ts';
import { recordKey } from '../throttle/throttle-keys.ts';
import { visitorOf } from './visitor.ts';

/**
 * Records that a page was opened, or a form sent, with a destination that is not acceptable, which it ignores: once a
 * minute for an address, and after the answer, so that nothing waits for the database because of its query. While one is
 * being recorded, or the database is down, others are not: a flood must not cost a statement for each. What sign-ins ask
 * for is recorded with each of them (sign-in/destination-of-form.ts).
 */
export function refusedDestinationRecorder(deps: Deps): (request: FastifyRequest, reply: FastifyReply) => void {
  let isRecording = false;
  return function record(request, reply) {
    const event = eventOf(deps, request);
    if (!event) return;
    reply.raw.once('close', () => {
      if (isRecording || deps.outage.isDatabaseAway) return;
      isRecording = true;
      insertEventOnceAMinute(deps.sql, event, recordKey('destination', event.address), deps.now())
        .catch((error: unknown) => request.log.error({ err: error }, 'a refused destination could not be recorded'))
        .finally(() => {
          isRecording = false;
        });
    });
  };
}

function eventOf(deps: Deps, request: FastifyRequest) {
  const names = [queryNames.destination, queryNames.redirectUrl];
  const { redirectURL } = (request.body ?? {}) as Record<string, unknown>;
  const isRefused = (asked: unknown) =>
    typeof asked === 'string' && asked !== '' && acceptableDestination(asked, deps.config.destinationRules) === null;
  const refused =
    names.find((name) => isRefused(queryValue(request, name))) ?? (isRefused(redirectURL) && queryNames.redirectUrl);
  const { address } = visitorOf(deps, request);
  if (!refused || address === null) return null;
  const [step, what] = request.method === 'POST' ? ['form', 'sent'] : ['page', 'opened'];
  const steps = [{ step, outcome: `${what} with a ${refused} that is not acceptable` }];
  return { event: 'destination-refused', requestId: request.id, address, steps } as const;
}

/** The same for a form that carries a destination without being a sign-in: a hook of its route. */
export function recordsRefusedDestination(deps: Deps) {
  const record = refusedDestinationRecorder(deps);
  return async (request: FastifyRequest, reply: FastifyReply) => record(request, reply);
}
