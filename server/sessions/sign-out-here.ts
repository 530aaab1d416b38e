import type { FastifyReply, FastifyRequest } from 'fastify';
import { insertAuditEvent } from '../audit/audit-event.ts';
import type { Deps } from '../deps.ts';
import { clearCookie, readCookie } from '../http/cookies.ts';
import { type DeletedSession, deleteSession } from './end-sessions.ts';
import { askForFreshSignIn } from './remembered-connection.ts';
import { forgetVisits } from './visit-cookie.ts';
import { visitorOf } from './visitor.ts';

/**
 * Ends the session of this browser and returns it, null if there is none, and removes what the browser keeps of whoever
 * was here. `forgets`: by which connection this browser signs in, too.
 */
export async function signOutHere(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { forgets = false } = {},
): Promise<DeletedSession | null> {
  const { config } = deps;
  const { sessionHash, address, requestId } = visitorOf(deps, request);
  const ended = sessionHash && (await deleteSession(deps.sql, sessionHash));
  await forgetVisits(deps, request, reply);
  if (ended) {
    const { userId, username } = ended;
    const event = { event: 'signed-out', userId, username, ...(address && { address }), requestId } as const;
    await insertAuditEvent(deps.sql, event, deps.now());
  }
  // Also one that is sent twice, or that is no token: somebody may have planted it.
  clearCookie(reply, config, 'session');
  for (const name of ['reset', 'passkey'] as const)
    if (readCookie(request.headers, config, name) !== null) clearCookie(reply, config, name);
  askForFreshSignIn(deps, request, reply, { forgets });
  return ended;
}
