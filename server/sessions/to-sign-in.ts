import type { FastifyReply, FastifyRequest } from 'fastify';
import { defaultDestination } from '#contract/destination.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import type { Deps } from '../deps.ts';
import { languageOverride } from '../http/request-url.ts';
import { standingOf, wayOf } from './ways.ts';
import type { Who } from './who.ts';

/**
 * Sends a visitor who is not signed in to the screen they need first; it leads on to `page`, a path with its query. `status`
 * is 303 after a post.
 */
export function toSignIn(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { who, page, status = 302 }: { who: Who; page: string; status?: 302 | 303 },
): FastifyReply {
  const { basePath } = deps.config;
  const lang = languageOverride(request);
  // The half session determines the screen and its contents.
  if (wayOf(standingOf(who), 'hub').kind === 'secondFactor')
    return reply.redirect(screenUrl(basePath, 'twoFactor', { [queryNames.redirectUrl]: page, lang }), status);
  // The browser keeps the fragment on redirects; path and query are in the address, one per tab.
  const kept = { [queryNames.destination]: page, ...(lang && { lang }) };
  const isDefault = page === defaultDestination(basePath);
  return reply.redirect(`${basePath}/${isDefault ? '' : `?${new URLSearchParams(kept)}`}`, status);
}
