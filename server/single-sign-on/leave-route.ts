import type { FastifyReply, FastifyRequest } from 'fastify';
import { defaultDestination } from '#contract/destination.ts';
import { screenUrl } from '#contract/screens.ts';
import type { Deps } from '../deps.ts';
import { readTokenCookie } from '../http/cookies.ts';
import { sendFormPolicy } from '../http/form-policy.ts';
import { languageOverride, queryValue } from '../http/request-url.ts';
import { tokenHash } from '../secrets/token.ts';
import { sessionOfRequest } from '../session/session-of-request.ts';
import { toSingleSignOn } from '../sign-in/let-in.ts';
import { findSsoConnection } from '../storage/sso-connection.ts';
import { findSsoRequestOfBrowser } from '../storage/sso-request.ts';
import { detailsOf } from './request-details.ts';

/**
 * `GET authenticate/leave`: a page that leads on to the provider by itself. Chromium holds the redirects that follow a
 * form post to `form-action`, which names our own origin alone (docs/decisions/0016); a page may lead anywhere.
 */
export function leaveRoute(deps: Deps) {
  const { config } = deps;
  return async function leave(request: FastifyRequest, reply: FastifyReply) {
    const id = queryValue(request, 'request') ?? '';
    const token = readTokenCookie(request.headers, config, 'sso');
    const lang = languageOverride(request);
    if (!token)
      return reply.redirect(screenUrl(config.basePath, 'singleSignOn', { notice: 'cookiesNeeded', lang }), 303);
    const row = isUuid(id) ? await findSsoRequestOfBrowser(deps.sql, id, tokenHash(token)) : null;
    const details = row && detailsOf(deps.keys, row);
    const connection = row && (await findSsoConnection(deps.sql, row.connectionId));
    const isOpen = row && row.usedAt === null && row.endsAt > deps.now();
    if (isOpen && details?.url && connection?.active) {
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
    const { destination = defaultDestination(config.basePath), typed = null } = details ?? {};
    if (details && (await sessionOfRequest(deps, request))?.stage === 'full') return reply.redirect(destination, 303);
    return toSingleSignOn(reply, config, { notice: 'signInExpired', username: typed }, { destination, lang });
  };
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}
