import type { FastifyRequest } from 'fastify';
import type { Deps } from '../deps.ts';
import { readTokenCookie } from '../http/cookies.ts';
import { addressOf } from '../http/guards.ts';
import type { SessionRow } from '../storage/session.ts';
import { sessionOfToken } from './session.ts';

/** The session of a request's cookie, or null. A request whose address could not be determined has none. */
export async function sessionOfRequest(deps: Deps, request: FastifyRequest): Promise<SessionRow | null> {
  const token = readTokenCookie(request.headers, deps.config, 'session');
  if (!token) return null;
  const address = addressOf(deps, request);
  return address ? await sessionOfToken(deps, token, address) : null;
}
