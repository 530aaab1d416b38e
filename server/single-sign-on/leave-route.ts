import type { FastifyReply, FastifyRequest } from 'fastify';
import { queryNames, screenUrl } from '#contract/screens.ts';
import type { Deps } from '../deps.ts';
import { readTokenCookie } from '../http/cookies.ts';
import { languageOverride, queryValue } from '../http/request-url.ts';
import { tokenHash } from '../secrets/token.ts';
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
    if (!token) return reply.redirect(again('cookiesNeeded', lang), 303);
    const found = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)
      ? await findSsoRequestOfBrowser(deps.sql, id, tokenHash(token), deps.now())
      : null;
    const details = found && detailsOf(deps.keys, found);
    const connection = found && (await findSsoConnection(deps.sql, found.connectionId));
    if (!details?.url || !connection?.active) return reply.redirect(again('signInExpired', lang), 303);
    return await deps.pages.send(request, reply, 200, {
      serverPage: { name: 'leaving', isSignOut: false, url: details.url, provider: connection.name },
    });
  };

  function again(notice: 'cookiesNeeded' | 'signInExpired', lang: string | undefined): string {
    return screenUrl(config.basePath, 'singleSignOn', { [queryNames.notice]: notice, lang });
  }
}
