import type { FastifyReply, FastifyRequest } from 'fastify';
import { destinationInLanguage } from '#contract/destination-in-language.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import type { Deps } from '../deps/deps.ts';
import { languageOverride, queryValue } from '../http/request-url.ts';
import { destinationFor } from '../visitor/destination.ts';
import { visitorOf } from '../visitor/visitor.ts';
import { lookAtRecoveryCodes } from './recovery-codes.ts';

/**
 * `GET two-factor-authentication/recovery-codes`: the page between a registration, or a used recovery code, and the
 * destination. Shows the codes for some minutes after registration, only to the session that registered; otherwise how many are
 * left.
 */
export function recoveryCodesRoute(deps: Deps) {
  const { config } = deps;

  return async function recoveryCodes(request: FastifyRequest, reply: FastifyReply) {
    const asked = queryValue(request, queryNames.redirectUrl) ?? '';
    const { sessionToken, who } = visitorOf(deps, request);
    const found = await who();
    if (!sessionToken || found.kind !== 'full') {
      const query = {
        [queryNames.destination]: asked || undefined,
        [queryNames.language]: languageOverride(request),
      };
      return reply.redirect(screenUrl(config.basePath, 'login', query), 302);
    }
    const { id: sessionId, userId, username } = found.session;
    const { codes, left } = await lookAtRecoveryCodes(deps, { userId, sessionId });
    const destination = destinationInLanguage(
      destinationFor(config, asked),
      config.basePath,
      languageOverride(request),
    );
    return await deps.pages.send(request, reply, 200, {
      serverPage: { name: 'recoveryCodes', codes, left, destination },
      typedUsername: username,
    });
  };
}
