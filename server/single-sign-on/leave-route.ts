import type { FastifyReply, FastifyRequest } from 'fastify';
import { defaultDestination } from '#contract/destination.ts';
import { screenUrl } from '#contract/screens.ts';
import type { Deps } from '../deps/deps.ts';
import { sendFormPolicy } from '../http/form-policy.ts';
import { languageOverride, queryValue } from '../http/request-url.ts';
import { visitTokenHash } from '../http/visit-cookie.ts';
import { isUuid } from '../names/is-uuid.ts';
import { toSingleSignOn } from '../sign-in/to-single-sign-on.ts';
import { findSsoConnection } from '../storage/sso-connection.ts';
import { findSsoRequest } from '../storage/sso-request.ts';
import { visitorOf } from '../visitor/visitor.ts';
import { detailsOf } from './request-details.ts';
import { isOfBrowser, isOpen } from './visits.ts';

/**
 * `GET authenticate/leave`: a page that redirects to the provider by itself, for an open visit of this browser. Chromium
 * applies `form-action`, which lists only our origin (docs/decisions/0016), to redirects after a form post; a page may
 * lead anywhere.
 */
export function leaveRoute(deps: Deps) {
  const { config } = deps;
  return async function leave(request: FastifyRequest, reply: FastifyReply) {
    const id = queryValue(request, 'request') ?? '';
    const lang = languageOverride(request);
    const row = isUuid(id) ? await findSsoRequest(deps.sql, id) : null;
    const isOut = row !== null && isOpen(row, deps.now());
    if (isOut && visitTokenHash(request, config) === null)
      return reply.redirect(screenUrl(config.basePath, 'singleSignOn', { notice: 'cookiesNeeded', lang }), 303);
    const details = row && isOfBrowser(deps, request, row) ? detailsOf(deps.keys, row) : null;
    const connection = row && details && isOut ? await findSsoConnection(deps.sql, row.connectionId) : null;
    if (connection?.active && details?.url) {
      const fields = details.fields ?? undefined;
      if (fields) sendFormPolicy(reply, details.url);
      return await deps.pages.send(request, reply, 200, {
        serverPage: {
          name: 'leaving',
          isSignOut: false,
          url: details.url,
          provider: connection.name,
          ...(fields && { fields }),
        },
      });
    }
    if ((await visitorOf(deps, request).who()).kind === 'full')
      return reply.redirect(defaultDestination(config.basePath), 303);
    const { destination = defaultDestination(config.basePath), typed = null } = details ?? {};
    return toSingleSignOn(reply, config, { notice: 'signInExpired', username: typed }, { destination, lang });
  };
}
