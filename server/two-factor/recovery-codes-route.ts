import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptableDestination, defaultDestination } from '#contract/destination.ts';
import { destinationInLanguage } from '#contract/destination-in-language.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import type { Deps } from '../deps.ts';
import { readTokenCookie } from '../http/cookies.ts';
import { languageOverride, queryValue } from '../http/request-url.ts';
import { tokenHash } from '../secrets/token.ts';
import { sessionOfRequest } from '../session/session-of-request.ts';
import { lookAtRecoveryCodes } from './recovery-codes.ts';

/**
 * `GET two-factor-authentication/recovery-codes`: the page between a registration, or a used recovery code, and the
 * destination. Shows the codes for some minutes after registration, only to the session that registered; otherwise how
 * many are left.
 */
export function recoveryCodesRoute(deps: Deps) {
  const { config } = deps;

  return async function recoveryCodes(request: FastifyRequest, reply: FastifyReply) {
    const asked = queryValue(request, queryNames.redirectUrl) ?? '';
    const token = readTokenCookie(request.headers, config, 'session');
    const session = await sessionOfRequest(deps, request);
    if (!token || session?.stage !== 'full') {
      const query = {
        [queryNames.destination]: asked || undefined,
        [queryNames.language]: languageOverride(request),
      };
      return reply.redirect(screenUrl(config.basePath, 'login', query), 302);
    }
    const viewer = { userId: session.userId, sessionHash: tokenHash(token) };
    const { codes, left } = await lookAtRecoveryCodes(deps, viewer);
    const accepted = acceptableDestination(asked, config.destinationRules) ?? defaultDestination(config.basePath);
    const destination = destinationInLanguage(accepted, config.basePath, languageOverride(request));
    return await deps.pages.send(request, reply, 200, {
      serverPage: { name: 'recoveryCodes', codes, left, destination },
      typedUsername: session.username,
    });
  };
}
