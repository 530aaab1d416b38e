import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../../deps.ts';
import { queryValue, splitUrl } from '../../http/request-url.ts';
import { knownVisitorOf } from '../../sessions/visitor.ts';
import { redirectUri } from '../addresses.ts';
import { claimVisit } from '../claim-visit.ts';
import { finishVisit } from '../finish-visit.ts';
import type { OidcKept } from '../visit-details.ts';
import { readOidcAnswer } from './redeem.ts';

/**
 * `GET authenticate/oidc/callback/<connection>`: where OpenID providers send their answers (OpenID Connect Core
 * §3.1.2.5). The visit is claimed first, and only then the code is redeemed.
 */
export function oidcCallbackRoute(deps: Deps) {
  return async function oidcCallback(request: FastifyRequest<{ Params: { connection: string } }>, reply: FastifyReply) {
    const visitor = await knownVisitorOf(deps, request, reply);
    if (!visitor) return reply;
    // From the configuration: the request's Host must not be compared with an answer.
    const key = encodeURIComponent(request.params.connection);
    const url = new URL(redirectUri(deps.config, { key }) + splitUrl(request.url).search);
    const [state = null, another] = url.searchParams.getAll('state');
    const asked = { state: another === undefined ? state : null, protocol: 'oidc', visitor } as const;
    const claimed = await claimVisit(deps, request, reply, asked);
    if (!claimed) return reply;
    const kept = claimed.details.kept as OidcKept;
    const answer = await readOidcAnswer(deps, claimed.connection, { url, state: String(state), kept });
    return await finishVisit(deps, request, reply, visitor, claimed, answer);
  };
}

/**
 * An altered link can have a provider answer in the fragment, which a browser takes along with a redirect: an empty one
 * replaces it.
 */
export async function dropFragment(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  const location = reply.getHeader('location');
  if (typeof location === 'string' && queryValue(request, 'state') === null) reply.header('location', `${location}#`);
  return payload;
}
