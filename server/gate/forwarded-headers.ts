import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { SessionAnswer } from '#contract/payloads.ts';
import type { Config } from '../config/config.ts';
import { isPortalCookie } from '../http/cookies.ts';
import { identityHeaders } from '../session/identity-headers.ts';
import { hopByHop, tokens } from './hop-by-hop.ts';

/** Tells the hub that a request came through the gate. */
export const hubSecretHeader = 'X-Vestibule-Hub-Secret';

/** For this connection only, or answered by us. */
const notPassedOn = new Set([...hopByHop, 'expect', 'http2-settings']);

/** What frames a request; a client that names it in `Connection` would change where the request ends. */
const framing = new Set(['content-length', 'host']);

/** Claims about where a request comes from or leads, by the names that servers believe in; ours replace them. */
const claims =
  /^(?:forwarded|x-forwarded.*|x-original-.*|x-rewrite-.*|x-real-ip|x-client-ip|x-cluster-client-ip|true-client-ip|client-ip|cf-connecting-ip|fastly-client-ip|x-host|proxy|proxy-client-ip|wl-proxy-client-ip|x-originating-ip)$/;

/** What to tell the hub about a request. */
export type Told = { address: string; person: SessionAnswer | null; token: string | null };

/**
 * The headers of a request as the hub gets them: without those for one connection, without anything that speaks with the
 * gate's voice however it is spelled, and without the portal's cookies. Then the gate's own.
 */
export function forwardedHeaders(
  headers: IncomingHttpHeaders,
  { address, person, token }: Told,
  config: Config,
): OutgoingHttpHeaders {
  const own = ownNames(config);
  const named = new Set(tokens(headers.connection).filter((name) => !framing.has(name)));
  const kept: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    const plain = spelledPlainly(name);
    if (value === undefined || notPassedOn.has(name) || named.has(name) || own.has(plain) || claims.test(plain))
      continue;
    kept[name] = value;
  }
  const cookie = withoutPortalCookies(headers.cookie ?? '');
  delete kept.cookie;
  if (cookie !== '' && !named.has('cookie')) kept.cookie = cookie;
  // The guard admits no other coding than chunked.
  if (headers['transfer-encoding'] !== undefined) kept['transfer-encoding'] = 'chunked';
  return {
    ...kept,
    'X-Forwarded-For': address,
    'X-Forwarded-Host': headers.host,
    'X-Forwarded-Proto': config.publicUrl.protocol.slice(0, -1),
    ...(config.hub?.secret && { [hubSecretHeader]: config.hub.secret }),
    ...(person && identityHeaders(config.identityHeaders, person, token)),
  };
}

/** The headers of a WebSocket's handshake, which has no body (RFC 6455 §4.1). */
export function handshakeHeaders(headers: IncomingHttpHeaders, told: Told, config: Config): OutgoingHttpHeaders {
  const { 'content-length': _length, 'transfer-encoding': _coding, ...others } = headers;
  return { ...forwardedHeaders(others, told, config), Connection: 'Upgrade', Upgrade: 'websocket' };
}

const ownNamesOf = new WeakMap<Config, Set<string>>();

function ownNames(config: Config): Set<string> {
  let names = ownNamesOf.get(config);
  if (!names) {
    names = new Set([...Object.values(config.identityHeaders), hubSecretHeader].map(spelledPlainly));
    ownNamesOf.set(config, names);
  }
  return names;
}

/** One spelling for all names that servers take for the same: CGI, for example, knows letters, digits and `_` only. */
function spelledPlainly(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '-');
}

function withoutPortalCookies(cookie: string): string {
  if (!cookie.toLowerCase().includes('vestibule-')) return cookie;
  const others = cookie.split(';').filter((pair) => !isPortalCookie(pair));
  return others.join(';').trim();
}
