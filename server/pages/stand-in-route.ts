import type { FastifyReply, FastifyRequest } from 'fastify';
import { defaultDestination } from '#contract/destination.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import type { Deps } from '../deps/deps.ts';
import { languageOverride } from '../http/request-url.ts';
import { turnOfEndedSession } from '../session/turn-of-ended-session.ts';
import { visitorOf } from '../visitor/visitor.ts';
import { standingOf, wayOf } from '../visitor/ways.ts';

/** `GET portal.html` where no hub is configured (decisions §10): shows who is signed in and offers sign-out. */
export function standInRoute(deps: Deps) {
  const { basePath } = deps.config;
  return async function standIn(request: FastifyRequest, reply: FastifyReply) {
    const lang = languageOverride(request);
    const who = await visitorOf(deps, request).who();
    const way = wayOf(standingOf(who), 'hub');
    if (way.kind === 'show' && who.kind === 'full') {
      const { username, email, customers } = who.session;
      const serverPage = { name: 'signedIn', username, email, customers } as const;
      return await deps.pages.send(request, reply, 200, { serverPage });
    }
    // The half session determines the screen and its contents.
    if (way.kind === 'secondFactor')
      return reply.redirect(screenUrl(basePath, 'twoFactor', { [queryNames.redirectUrl]: request.url, lang }), 302);
    turnOfEndedSession(deps, request, reply, who);
    // The browser keeps the fragment on redirects; path and query are in the address, one per tab.
    const isDefault = request.url === defaultDestination(basePath);
    const kept = { [queryNames.destination]: request.url, ...(lang && { lang }) };
    return reply.redirect(`${basePath}/${isDefault ? '' : `?${new URLSearchParams(kept)}`}`, 302);
  };
}
