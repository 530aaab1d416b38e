import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptableDestination, defaultDestination } from '#contract/destination.ts';
import type { Deps } from '../deps/deps.ts';
import { isTrustedProxy } from '../http/client-address.ts';
import { isForeignAhead } from '../http/navigation.ts';
import { refuse, sendProblem } from '../http/refuse.ts';
import { splitUrl, wantsPage } from '../http/request-url.ts';
import { hubTokens } from '../hub/hub-tokens.ts';
import { visitorOf } from '../visitor/visitor.ts';
import { identityHeaders, identityOf } from './identity.ts';
import { refuseOtherCustomers } from './refuse-other-customers.ts';
import { readSessionQuery } from './session-query.ts';
import { toSignIn } from './to-sign-in.ts';
import { turnOfEndedSession } from './turn-of-ended-session.ts';

/**
 * `GET session` (decisions §6 and §10): who is signed in, with headers for a hub, or 401. A proxy that says which page a
 * person asked for gets the redirect to sign in instead. `?customer=` lets only users of these customers through, and
 * `?audience=` adds a token for a hub.
 */
export function sessionRoute(deps: Deps) {
  const { config } = deps;
  const hubToken = hubTokens(deps);

  return async function session(request: FastifyRequest, reply: FastifyReply) {
    const page = pageBehindProxy(request);
    const who = await visitorOf(deps, request).who();
    const identity = identityOf(who);
    if (identity === null) {
      if (page !== null) return toSignIn(deps, request, reply, { who, page });
      turnOfEndedSession(deps, request, reply, who);
      return sendProblem(reply, 401);
    }
    if (isForeignSocket(request))
      return sendProblem(reply, 403, { title: 'A page of another origin asked for a WebSocket' });
    if (isForeignAhead(request.headers))
      return sendProblem(reply, 403, { title: 'A page of another host fetched ahead' });
    const reading = readSessionQuery(config, splitUrl(request.url).search);
    if (reading.kind === 'refused') return await refuse(deps, request, reply, 400, reading);
    const { customers, audience } = reading.query;
    const { person } = identity;
    if (customers && !person.customers.some((key) => customers.includes(key)))
      return await refuseOtherCustomers(deps, request, reply, { identity, page, customers });
    const token = audience && (await hubToken(identity, audience));
    return reply.headers(identityHeaders(config.identityHeaders, person, token)).send(person);
  };

  /**
   * The page that a person asked a trusted proxy for, as a path with its query; null if the proxy wants a bare refusal, or a
   * script asked. Nobody else's `X-Forwarded-Uri` counts.
   */
  function pageBehindProxy(request: FastifyRequest): string | null {
    const uri = request.headers['x-forwarded-uri'];
    const method = request.headers['x-forwarded-method'] ?? 'GET';
    if (typeof uri !== 'string' || method !== 'GET' || !wantsPage(request)) return null;
    if (!isTrustedProxy(request.socket.remoteAddress, config.trustedProxies)) return null;
    return acceptableDestination(uri, config.destinationRules) ?? defaultDestination(config.basePath);
  }

  /**
   * Whether a page of another origin asked a proxy for a WebSocket: the browser sends cookies with it if the origin is on
   * the same site, and no CORS answer protects it (RFC 6455 §10.2).
   */
  function isForeignSocket({ headers }: FastifyRequest): boolean {
    // Proxies drop Upgrade from the question, a handshake over HTTP/2 has no key, and browsers may leave the mode out.
    const isSocket =
      headers['sec-websocket-key'] !== undefined ||
      headers['sec-fetch-mode'] === 'websocket' ||
      /\bwebsocket\b/i.test(headers.upgrade ?? '');
    return isSocket && headers.origin !== undefined && !config.origins.includes(headers.origin);
  }
}
