import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptableDestination, defaultDestination } from '#contract/destination.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import type { Deps } from '../deps.ts';
import { languageOverride, queryValue } from '../http/request-url.ts';
import { limits } from '../limits.ts';
import { sessionOfRequest } from '../session/session-of-request.ts';
import { lookAtRecoveryCodes } from './recovery-codes.ts';

/**
 * `GET two-factor-authentication/recovery-codes`: the page between a registration, or a used recovery code, and the
 * destination. The codes are on it for some minutes after registration, to who has just signed in; afterwards it says
 * how many are left.
 */
export function recoveryCodesRoute(deps: Deps) {
  const { config } = deps;

  return async function recoveryCodes(request: FastifyRequest, reply: FastifyReply) {
    const asked = queryValue(request, queryNames.redirectUrl) ?? '';
    const session = await sessionOfRequest(deps, request);
    if (session?.stage !== 'full') {
      const query = {
        [queryNames.destination]: asked || undefined,
        [queryNames.language]: languageOverride(request),
      };
      return reply.redirect(screenUrl(config.basePath, 'login', query), 302);
    }
    const isFresh =
      deps.now().getTime() - session.createdAt.getTime() <= limits.freshSignIn + limits.recoveryCodesShown;
    const { codes, left } = await lookAtRecoveryCodes(deps, session.userId);
    const destination = acceptableDestination(asked, config.destinationRules) ?? defaultDestination(config.basePath);
    return await deps.pages.send(request, reply, 200, {
      serverPage: { name: 'recoveryCodes', codes: isFresh ? codes : null, left, destination },
      typedUsername: session.username,
    });
  };
}
