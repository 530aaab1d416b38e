import type { FastifyReply, FastifyRequest } from 'fastify';
import { noticeOfSearch } from '#contract/notices.ts';
import { screenUrl } from '#contract/screens.ts';
import type { Deps } from '../../deps/deps.ts';
import { readLastRefusal } from '../../http/last-refusal.ts';
import { queryValue, splitUrl } from '../../http/request-url.ts';
import { isToken, tokenHash } from '../../secrets/token.ts';
import { turnAway } from '../../sign-in/turn-away.ts';
import { findSsoRequestByState } from '../../storage/sso-request.ts';
import { visitorOf } from '../../visitor/visitor.ts';
import { detailsOf, wayOf } from '../request-details.ts';
import { isOfBrowser } from '../visits.ts';

/**
 * `GET authenticate/saml/failed`: a refused answer came by a post without our Lax cookies, so nothing of the visit was
 * shown. This request has them: the browser that began gets its typed name and destination back, any other sees the
 * bare failure page. The visit is unchanged.
 */
export function samlFailedRoute(deps: Deps) {
  const { config, keys, sql } = deps;
  return async function samlFailed(request: FastifyRequest, reply: FastifyReply) {
    const isCancelled = noticeOfSearch(splitUrl(request.url).search) === 'signInCancelled';
    const notice = isCancelled ? ({ notice: 'signInCancelled' } as const) : {};
    const bare = screenUrl(config.basePath, { name: 'loginFail', type: 'saml' }, notice);
    const state = queryValue(request, 'state');
    const row = state !== null && isToken(state) ? await findSsoRequestByState(sql, tokenHash(state)) : null;
    const details = row && isOfBrowser(deps, request, row) ? detailsOf(keys, row) : null;
    const { reference } = readLastRefusal(request, config, bare);
    const { address } = visitorOf(deps, request);
    if (!details || reference === null || !address) return reply.redirect(bare, 303);
    const { typed, ...way } = wayOf(details);
    const refusal = { type: 'saml', reference, username: typed ?? '', ...notice } as const;
    return turnAway(reply, config, refusal, { ...way, address });
  };
}
