import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps/deps.ts';
import { withdrawOpenedLinks } from '../http/opened-links.ts';
import { turnOfEndedSession } from '../session/turn-of-ended-session.ts';
import type { Who } from '../visitor/who.ts';

/**
 * Withdraws the links that were open in a browser while the session there was signed out elsewhere: whoever presses the button
 * of one may be the next person (docs/decisions/0027). Ask before the link is looked at.
 */
export async function endTurnOfLinks(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  who: Who,
): Promise<void> {
  if (turnOfEndedSession(deps, request, reply, who) !== null) await withdrawOpenedLinks(deps, request);
}
