import type { FastifyReply, FastifyRequest } from 'fastify';
import { languageOfTag } from '#contract/languages.ts';
import type { SessionAnswer } from '#contract/payloads.ts';
import { queryNames } from '#contract/screens.ts';
import { insertEventOnceAMinute } from '../audit/audit-event.ts';
import { referenceOfRequest } from '../audit/reference.ts';
import type { Config } from '../config/config.ts';
import type { HubAudience } from '../config/hub.ts';
import type { Deps } from '../deps.ts';
import { isTrustedProxy } from '../http/client-address.ts';
import { refuse, sendProblem } from '../http/refuse.ts';
import { recordable, splitUrl, wantsPage } from '../http/request-url.ts';
import { readShortName } from '../names/read-name.ts';
import { isWithin, readGroups, splitGroups } from '../people/groups.ts';
import { destinationFor, toSignIn } from '../sessions/destination.ts';
import { visitorOf } from '../sessions/visitor.ts';
import { accessKey } from '../throttle/throttle-keys.ts';
import { type Identity, identityHeaders, identityOf } from './hub-headers.ts';
import { hubTokens } from './hub-tokens.ts';

/**
 * `GET session`: who is signed in, with headers for a hub, or 401. A proxy that says which page a
 * person asked for gets the redirect to sign in instead. `?customer=` and `?group=` let only users of these through, and
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
      if (page !== null) return toSignIn(deps, reply, { who, page });
      const isIgnored = request.headers['x-forwarded-uri'] !== undefined && !isFromProxy(request);
      return sendProblem(reply, 401, isIgnored ? { detail: 'X-Forwarded-Uri counts from trustedProxies only.' } : {});
    }
    if (isForeignSocket(request))
      return sendProblem(reply, 403, { title: 'A page of another origin asked for a WebSocket' });
    const reading = readSessionQuery(config, splitUrl(request.url).search);
    if (reading.kind === 'refused') return await refuse(deps, reply, 400, reading);
    const { audience, ...rule } = reading.query;
    const { person } = identity;
    if (!isOpenTo(person, rule))
      return await refuseOthers(deps, reply, { identity, page: page && destinationFor(config, page), rule });
    const token = audience && (await hubToken(identity, audience));
    return reply.headers(identityHeaders(config.identityHeaders, person, token)).send(person);
  };

  /**
   * The page that a person asked a trusted proxy for, as the proxy names it; null if the proxy wants a bare refusal, or a
   * script asked. Nobody else's `X-Forwarded-Uri` counts.
   */
  function pageBehindProxy(request: FastifyRequest): string | null {
    const uri = request.headers['x-forwarded-uri'];
    const method = request.headers['x-forwarded-method'] ?? 'GET';
    if (typeof uri !== 'string' || method !== 'GET' || !wantsPage(request)) return null;
    if (!isFromProxy(request)) return null;
    return uri;
  }

  function isFromProxy({ socket }: FastifyRequest): boolean {
    return isTrustedProxy(socket.remoteAddress, config.trustedProxies);
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

/** Who may see what a proxy asks about: users of one of the customers, and in one of the groups; null: any. */
type Rule = { customers: string[] | null; groups: string[] | null };

/** With both, it takes a group within one of the customers. */
function isOpenTo(person: SessionAnswer, { customers, groups }: Rule): boolean {
  const within = person.customers.filter((key) => customers === null || customers.includes(key));
  if (groups === null) return within.length > 0 || customers === null;
  return person.groups.some((group) => isWithin(group, within) && groups.includes(group));
}

type SessionQuery = Rule & {
  audience: HubAudience | null;
};

type Reading = { kind: 'ok'; query: SessionQuery } | { kind: 'refused'; field: string; detail: string };

const known = ['customer', 'group', 'audience', queryNames.language];

/**
 * Reads `?customer=` and `?group=` (repeatable, or separated by commas) and `?audience=`. Everything else is refused: with
 * a misspelt rule, everybody who is signed in would pass.
 */
function readSessionQuery(config: Config, query: string): Reading {
  const given = new URLSearchParams(query);
  for (const name of given.keys())
    if (!known.includes(name)) return { kind: 'refused', field: recordable(name), detail: 'no such parameter' };
  const customers = given.has('customer') ? given.getAll('customer').flatMap((text) => text.split(',')) : null;
  if (customers?.some((key) => readShortName(key).kind !== 'ok'))
    return { kind: 'refused', field: 'customer', detail: 'customer: must be keys of customers' };
  const groups = given.has('group') ? readGroups(given.getAll('group').flatMap(splitGroups)) : null;
  if (groups?.kind === 'refused') return { kind: 'refused', field: 'group', detail: groups.problem };
  const [name, ...more] = given.getAll('audience');
  const audience = config.hubAudiences.find((hub) => hub.name === name) ?? null;
  if ((name !== undefined && audience === null) || more.length > 0)
    return { kind: 'refused', field: 'audience', detail: 'audience: must be one of hub.audiences' };
  return { kind: 'ok', query: { customers, groups: groups?.value ?? null, audience } };
}

/** Who asked, for which page (null if the proxy did not say), and who may see it. */
type NotTheirs = { identity: Identity; page: string | null; rule: Rule };

const longestRule = 256;

async function refuseOthers(deps: Deps, reply: FastifyReply, notTheirs: NotTheirs): Promise<FastifyReply> {
  const { identity, page } = notTheirs;
  const reference = await recordRefusal(deps, reply.request, notTheirs);
  if (page === null) {
    const detail = 'The signed-in user belongs to none of the customers or groups that may see this.';
    return sendProblem(reply, 403, { title: 'Not open to this user', detail });
  }
  // Its form and its language menu are those of the page's address.
  const lang = new URLSearchParams(splitUrl(page).search).get(queryNames.language);
  const language = languageOfTag(lang ?? '');
  return await deps.pages.send(reply, 403, {
    url: page,
    ...(language && { language }),
    screen: { name: 'notForYou', username: identity.person.username, comesBackTo: page },
    reference,
  });
}

/**
 * Records the refusal once a minute for a user and a rule, and returns the reference of the recorded request. nginx asks twice,
 * and names the page only for the visitor's own answer. A failure to record must not break the refusal.
 */
async function recordRefusal(
  deps: Deps,
  request: FastifyRequest,
  { identity: { userId, person }, page, rule }: NotTheirs,
): Promise<string> {
  const [customers, groups] = [rule.customers, rule.groups].map((list) => (list ?? []).toSorted().join(', '));
  const event = {
    event: 'access-refused' as const,
    userId,
    username: person.username,
    customerKey: person.customers.join(', '),
    address: request.address,
    requestId: request.id,
    steps: [
      { step: 'page', outcome: page === null ? 'not told by the proxy' : recordable(splitUrl(page).path) },
      ...(customers ? [{ step: 'open to customers', outcome: customers.slice(0, longestRule) }] : []),
      ...(groups ? [{ step: 'open to groups', outcome: groups.slice(0, longestRule) }] : []),
      { step: 'groups of the user', outcome: person.groups.join(', ').slice(0, longestRule) || 'none' },
    ],
  };
  try {
    return await insertEventOnceAMinute(
      deps.sql,
      event,
      accessKey(userId, `${customers} ${groups} ${page === null ? 'unknown page' : ''}`),
      deps.now(),
    );
  } catch (error) {
    request.log.error({ err: error }, 'a refused access could not be recorded');
    return referenceOfRequest(request.id);
  }
}
