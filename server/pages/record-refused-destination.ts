import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptableDestination } from '#contract/destination.ts';
import { queryNames } from '#contract/screens.ts';
import type { Deps } from '../deps/deps.ts';
import { queryValue } from '../http/request-url.ts';
import { insertEventOnceAMinute } from '../storage/sign-in.ts';
import { originKeys } from '../storage/throttle-keys.ts';
import { visitorOf } from '../visitor/visitor.ts';

/**
 * Records that a page was opened with a destination that is not acceptable, which it ignores: once a minute for an
 * address, and after the answer, so that no page waits for the database because of its query. While one is being recorded,
 * or the database is down, others are not: a flood must not cost a statement for each.
 */
export function refusedDestinationRecorder(deps: Deps): (request: FastifyRequest, reply: FastifyReply) => void {
  let isRecording = false;
  return function record(request, reply) {
    if (isRecording || deps.outage.isDatabaseAway) return;
    const event = eventOf(deps, request);
    if (!event) return;
    isRecording = true;
    const [{ key }] = originKeys(event.address);
    reply.raw.once('close', () => {
      insertEventOnceAMinute(deps.sql, event, `destination:${key}`, deps.now())
        .catch((error: unknown) => request.log.error({ err: error }, 'a refused destination could not be recorded'))
        .finally(() => {
          isRecording = false;
        });
    });
  };
}

function eventOf(deps: Deps, request: FastifyRequest) {
  const names = [queryNames.destination, queryNames.redirectUrl];
  const refused = names.find((name) => {
    const asked = queryValue(request, name);
    return asked && acceptableDestination(asked, deps.config.destinationRules) === null;
  });
  const { address } = visitorOf(deps, request);
  if (!refused || address === null) return null;
  const steps = [{ step: 'page', outcome: `opened with a ${refused} that is not acceptable` }];
  return { event: 'destination-refused', requestId: request.id, address, steps } as const;
}
