import type { FastifyReply, FastifyRequest } from 'fastify';
import { queryNames, screenUrl } from '#contract/screens.ts';
import type { Deps } from '../../deps/deps.ts';
import { clearCookie, readCookie, readTokenCookie } from '../../http/cookies.ts';
import { isInFrame } from '../../http/navigation.ts';
import { tokenHash } from '../../secrets/token.ts';
import { findSentSamlLogout } from '../../storage/saml-logout.ts';

/**
 * `GET authenticate/saml/logged-out`: shows the provider's answer, which may have come without our Lax cookies, to the
 * browser that signed out. No other browser learns the outcome.
 */
export function samlLoggedOutRoute(deps: Deps) {
  const { config } = deps;
  return async function samlLoggedOut(request: FastifyRequest, reply: FastifyReply) {
    const { headers } = request;
    const token = readTokenCookie(headers, config, 'sent-logout');
    const sent = token ? await findSentSamlLogout(deps.sql, tokenHash(token), deps.now()) : null;
    // Any site can open this address before the answer is there, and a neighbouring host in a frame, unseen.
    const isTold = sent?.isWhole !== null && !isInFrame(request);
    if (isTold && readCookie(headers, config, 'sent-logout') !== null) clearCookie(reply, config, 'sent-logout');
    const notice = sent && sent.isWhole !== true ? { [queryNames.notice]: 'signOutIncomplete' } : {};
    return reply.redirect(screenUrl(config.basePath, 'login', notice), 303);
  };
}
