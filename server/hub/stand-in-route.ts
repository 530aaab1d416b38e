import type { FastifyReply, FastifyRequest } from 'fastify';
import { defaultDestination } from '#contract/destination.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import type { Deps } from '../deps.ts';
import { languageOverride } from '../http/request-url.ts';
import { sessionOfRequest } from '../session/session-of-request.ts';
import { turnOfEndedSession } from '../session/turn-of-ended-session.ts';

/** `GET portal.html` where no hub is configured (decisions §10): shows who is signed in and offers sign-out. */
export function standInRoute(deps: Deps) {
  const { basePath } = deps.config;
  return async function standIn(request: FastifyRequest, reply: FastifyReply) {
    const session = await sessionOfRequest(deps, request);
    if (session?.stage === 'full') {
      const { username, email, customers } = session;
      return await deps.pages.send(request, reply, 200, {
        serverPage: { name: 'signedIn', username, email, customers },
      });
    }
    const lang = languageOverride(request);
    // The half session determines the screen and its contents.
    if (session)
      return reply.redirect(screenUrl(basePath, 'twoFactor', { [queryNames.redirectUrl]: request.url, lang }), 302);
    await turnOfEndedSession(deps, request, reply);
    // The browser keeps the fragment on redirects; path and query are in the address, one per tab.
    const isDefault = request.url === defaultDestination(basePath);
    const query = isDefault
      ? ''
      : `?${new URLSearchParams({ [queryNames.destination]: request.url, ...(lang && { lang }) })}`;
    return reply.redirect(`${basePath}/${query}`, 302);
  };
}
