import type { FastifyReply, FastifyRequest } from 'fastify';
import { defaultDestination } from '#contract/destination.ts';
import { screenUrl } from '#contract/screens.ts';
import { isUuid } from '../crypto/token.ts';
import type { Deps } from '../deps.ts';
import { languageOverride, queryValue } from '../http/request-url.ts';
import { sendFormPolicy } from '../http/security-headers.ts';
import { findVisit, visitTokenHash } from '../sessions/visit.ts';
import { visitorOf } from '../sessions/visitor.ts';
import { toSingleSignOn } from '../sign-in/answer-sign-in.ts';
import { findSsoConnection } from './sso-connection.ts';
import { detailsOf } from './visit-details.ts';

/**
 * `GET authenticate/leave`: a page that redirects to the provider by itself, for an open visit of this browser. Chromium
 * applies `form-action`, which lists only our origin (docs/decisions/0016), to redirects after a form post; a page may
 * lead anywhere.
 */
export function leaveRoute(deps: Deps) {
  const { config, keys, sql } = deps;
  return async function leave(request: FastifyRequest, reply: FastifyReply) {
    const id = queryValue(request, 'visit') ?? '';
    const lang = languageOverride(request);
    const visit = isUuid(id) ? await findVisit(sql, id) : null;
    const isOpen = visit !== null && visit.usedAt === null && visit.endsAt > deps.now();
    const cookieHash = visitTokenHash(request, config);
    if (isOpen && cookieHash === null)
      return reply.redirect(screenUrl(config.basePath, 'singleSignOn', { notice: 'cookiesNeeded', lang }), 303);
    const details = visit && cookieHash?.equals(visit.cookieHash) ? detailsOf(keys, visit) : null;
    const connection = details && isOpen ? await findSsoConnection(sql, visit.connectionId) : null;
    if (details && connection?.active && connection.version === visit?.connectionVersion) {
      const { url, fields } = details;
      if (fields) sendFormPolicy(reply, url);
      return await deps.pages.send(request, reply, 200, {
        serverPage: { name: 'leaving', isSignOut: false, url, provider: connection.name, ...(fields && { fields }) },
      });
    }
    if ((await visitorOf(deps, request).who()).kind === 'full')
      return reply.redirect(defaultDestination(config.basePath), 303);
    const { destination = defaultDestination(config.basePath), typed = null } = details ?? {};
    return toSingleSignOn(reply, config, { notice: 'signInExpired', username: typed }, { destination, lang });
  };
}
