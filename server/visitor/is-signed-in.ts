import type { FastifyRequest } from 'fastify';
import type { Deps } from '../deps/deps.ts';
import { nullIfDatabaseAway } from '../storage/connect.ts';
import { visitorOf } from './visitor.ts';

/** Tells whether a request's visitor is signed in. While the database is down nobody is. */
export function isSignedInAt(deps: Deps) {
  return async function isSignedIn(request: FastifyRequest): Promise<boolean> {
    const { sessionToken, who } = visitorOf(deps, request);
    if (sessionToken === null) return false;
    return (await who().catch(nullIfDatabaseAway))?.kind === 'full';
  };
}
