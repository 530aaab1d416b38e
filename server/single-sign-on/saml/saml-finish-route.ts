import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../../deps.ts';
import { readTokenCookie } from '../../http/cookies.ts';
import { queryValue } from '../../http/request-url.ts';
import { arrive } from '../arrive.ts';
import { waitingIdentity } from '../request-details.ts';

/**
 * `GET authenticate/saml/finish`: the answer itself came by a post from another site, without our Lax cookies. This
 * request has them, and only the browser that began gets in: an answer that somebody else had made signs in nobody.
 */
export function samlFinishRoute(deps: Deps) {
  return async function samlFinish(request: FastifyRequest, reply: FastifyReply) {
    const state = queryValue(request, 'state');
    const isProviders = queryValue(request, 'begun') === 'there';
    const browserToken = isProviders ? null : readTokenCookie(request.headers, deps.config, 'sso');
    const held = { state: browserToken || isProviders ? state : null, browserToken };
    return await arrive(deps, request, reply, 'saml', held, async ({ row }) => {
      const identity = waitingIdentity(deps.keys, row);
      if (identity) return { ok: true, identity };
      return { ok: false, reason: 'request-unknown', words: 'the provider has not answered this request' };
    });
  };
}
