import type { FastifyRequest } from 'fastify';
import type { Deps } from '../deps/deps.ts';
import { tokenHash } from '../secrets/token.ts';
import { nullIfDatabaseAway } from '../storage/connect.ts';
import { findVisitorSession } from '../storage/visitor-session.ts';
import { visitorOf } from './visitor.ts';

/**
 * Tells whether a request's visitor is signed in, without marking their session as used: a page that asks for an address which
 * does not exist, again and again, must not keep it alive. While the database is down nobody is.
 */
export function isSignedInAt(deps: Deps) {
  return async function isSignedIn(request: FastifyRequest): Promise<boolean> {
    const { sessionToken, address } = visitorOf(deps, request);
    if (sessionToken === null || address === null) return false;
    const now = deps.now();
    const at = { address, idleSince: new Date(now.getTime() - deps.config.sessionIdle), now };
    return (await findVisitorSession(deps.sql, tokenHash(sessionToken), at).catch(nullIfDatabaseAway))?.kind === 'full';
  };
}
