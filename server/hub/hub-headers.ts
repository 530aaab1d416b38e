import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { SessionAnswer } from '#contract/payloads.ts';
import type { Config } from '../config/config.ts';
import type { IdentityHeaders } from '../config/hub.ts';
import { isPortalCookie } from '../http/cookies.ts';
import type { FullSession } from '../sessions/session.ts';
import type { Who } from '../sessions/who.ts';

/** Tells the hub that a request came through the gate. */
export const hubSecretHeader = 'X-Vestibule-Hub-Secret';

const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** What frames a request; a client that names it in `Connection` would change where the request ends. */
const framing = new Set(['content-length', 'host']);

/** Headers by which servers and frameworks replace where a request comes from, its address or its method; ours count. */
const claims = new RegExp(
  `^(?:${[
    ...['forwarded', 'x-forwarded.*', 'x-envoy-external-address', 'proxy'],
    // X-Real-IP, True-Client-IP, CF-Connecting-IP, X-Azure-ClientIP …
    '(?:[a-z]+-)*(?:client|connecting|originating|real|remote|socket)-?(?:ip|addr)',
    // X-Original-URL, X-Rewrite-URL, X-MS-Original-URL, X-WAWS-Unencoded-URL, X-Envoy-Original-Path …
    'x-(?:[a-z]+-)?(?:original|rewrite|unencoded)-.*',
    // X-HTTP-Method-Override, X-HTTP-Method, X-Method-Override
    ...['x-(?:http-)?method(?:-override)?', 'x-host', 'x-http-host-override'],
  ].join('|')})$`,
);

type Told = { address: string; person: SessionAnswer | null; token: string | null };

/**
 * The headers of a request as the hub gets them: without those for one connection, without anything that speaks with the
 * gate's voice however it is spelled, and without the portal's cookies. Then the gate's own.
 */
export function headersForHub(config: Config) {
  const own = new Set([...Object.values(config.identityHeaders), hubSecretHeader].map(spelledPlainly));

  return (headers: IncomingHttpHeaders, { address, person, token }: Told): OutgoingHttpHeaders => {
    const named = new Set(tokens(headers.connection).filter((name) => !framing.has(name)));
    const kept: OutgoingHttpHeaders = {};
    for (const [name, value] of Object.entries(headers)) {
      const plain = spelledPlainly(name);
      const isForUs = hopByHop.has(name) || named.has(name) || name === 'expect' || name === 'http2-settings';
      if (value === undefined || isForUs || own.has(plain) || claims.test(plain)) continue;
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
  };
}

/**
 * The headers of the hub's answer as the visitor gets them, names and values in turn: as they are, but without those for
 * one connection, trailers included, and without cookies by the names of the portal's.
 */
export function headersFromHub({ rawHeaders, headers }: IncomingMessage): string[] {
  const named = tokens(headers.connection).filter((name) => name !== 'content-length');
  const returned: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2);
    const lower = name.toLowerCase();
    if (hopByHop.has(lower) || named.includes(lower)) continue;
    if (lower === 'set-cookie' && isPortalCookie(value)) continue;
    returned.push(name, value);
  }
  return returned;
}

function tokens(list: string | undefined): string[] {
  return (list ?? '')
    .split(',')
    .map((token) => token.trim().toLowerCase())
    .filter(Boolean);
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

/** Who is signed in, as hubs learn it: the answer of `GET session`, and what a token says besides. */
export type Identity = Pick<FullSession, 'userId' | 'id' | 'provenAt'> & { person: SessionAnswer };

/** Null if nobody is signed in: a half session is not. */
export function identityOf(who: Who): Identity | null {
  if (who.kind !== 'full') return null;
  const { userId, id, provenAt, username, email, name, language, customers, groups, createdAt, endsAt } = who.session;
  const person = { username, email, name, language, customers, groups };
  const times = { signedInAt: createdAt.toISOString(), expiresAt: endsAt.toISOString() };
  return { userId, id, provenAt, person: { ...person, ...times } };
}

/**
 * What a proxy passes on to the hub: who is signed in, by the names that the operator has given the headers. All of them
 * are always there: Caddy 2.6 passes on a text of its own for one that is absent.
 */
export function identityHeaders(
  names: IdentityHeaders,
  { username, email, name, customers, groups, language }: SessionAnswer,
  token: string | null,
): Record<string, string> {
  return {
    [names.user]: encoded(username),
    [names.email]: encoded(email),
    // `Lovelace, Ada` is one name: nobody takes its first half for whom to let in.
    [names.name]: encoded(name ?? '').replaceAll('%2C', ','),
    [names.customers]: customers.map(encoded).join(','),
    [names.groups]: fittingGroups(groups).map(encoded).join(','),
    [names.language]: encoded(language ?? ''),
    [names.token]: token ?? '',
  };
}

/** In characters of the header. A token, which says the same in base64, still fits into a head of 16 KB beside it. */
const longestGroups = 4000;

/** The first groups, as many as fit: a head that is too long for a proxy or a hub would lock the user out. */
export function fittingGroups(groups: readonly string[]): string[] {
  let room = longestGroups;
  return groups.filter((group) => {
    room -= encoded(group).length + 1;
    return room >= 0;
  });
}

/** Percent-encodes all but visible ASCII and spaces, `%` and `,`: no name can end a header or be read as two. */
function encoded(text: string): string {
  return text.replace(/[^ -$&-+\--~]+/g, encodeURIComponent);
}
