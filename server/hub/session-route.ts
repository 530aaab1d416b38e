import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptableDestination, defaultDestination } from '#contract/destination.ts';
import { queryNames } from '#contract/screens.ts';
import type { Config } from '../config/config.ts';
import type { HubAudience } from '../config/hub.ts';
import type { Deps } from '../deps.ts';
import { isTrustedProxy } from '../http/client-address.ts';
import { refuse, sendProblem } from '../http/refuse.ts';
import { recordable, splitUrl, wantsPage } from '../http/request-url.ts';
import { readShortName } from '../names/read-name.ts';
import { toSignIn } from '../sessions/destination.ts';
import { visitorOf } from '../sessions/visitor.ts';
import { hubTokens } from './hub-tokens.ts';
import { identityHeaders, identityOf } from './identity.ts';
import { refuseOtherCustomers } from './refuse-other-customers.ts';

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
      return sendProblem(reply, 401);
    }
    if (isForeignSocket(request))
      return sendProblem(reply, 403, { title: 'A page of another origin asked for a WebSocket' });
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

/** What a proxy asks of `GET session` besides who is signed in. */
type SessionQuery = {
  /** Keys of customers, one of which must be the user's; null: any. */
  customers: string[] | null;
  /** The hub that gets a token; null: none. */
  audience: HubAudience | null;
};

type Reading = { kind: 'ok'; query: SessionQuery } | { kind: 'refused'; field: string; detail: string };

const known = ['customer', 'audience', queryNames.language];

/**
 * Reads `?customer=` (repeatable, or separated by commas) and `?audience=`. Everything else is refused: with a misspelt
 * rule, everybody who is signed in would pass.
 */
function readSessionQuery(config: Config, query: string): Reading {
  const given = new URLSearchParams(query);
  for (const name of given.keys())
    if (!known.includes(name)) return { kind: 'refused', field: recordable(name), detail: 'no such parameter' };
  const customers = given.has('customer') ? given.getAll('customer').flatMap((text) => text.split(',')) : null;
  if (customers?.some((key) => readShortName(key).kind !== 'ok'))
    return { kind: 'refused', field: 'customer', detail: 'customer: must be keys of customers' };
  const [name, ...more] = given.getAll('audience');
  const audience = config.hubAudiences.find((hub) => hub.name === name) ?? null;
  if ((name !== undefined && audience === null) || more.length > 0)
    return { kind: 'refused', field: 'audience', detail: 'audience: must be one of hub.audiences' };
  return { kind: 'ok', query: { customers, audience } };
}
