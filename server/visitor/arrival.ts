import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Deps } from '../deps/deps.ts';

const arrivals = new WeakMap<FastifyRequest, Date>();

/** Notes when a request arrives: its body, and then the database, may take a while. */
export function noteArrival({ now }: Pick<Deps, 'now'>): onRequestHookHandler {
  return function note(request, _reply, done) {
    arrivals.set(request, now());
    done();
  };
}

/** When a request arrived, by its headers; now, if it is answered before any hook. */
export function arrivalOf({ now }: Pick<Deps, 'now'>, request: FastifyRequest): Date {
  return arrivals.get(request) ?? now();
}
