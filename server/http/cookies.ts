import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Config } from '../config/config.ts';
import { isToken } from '../crypto/token.ts';

type CookieName = TokenCookieName | 'next-page' | 'connection';

type TokenCookieName = 'session' | 'device' | 'reset' | 'remembered' | 'passkey' | 'visit';

/**
 * The value of a cookie, or null if it is absent or untrustworthy: a name that occurs twice was also set by someone
 * else (cookie tossing), and is ignored. Names are compared exactly: to a browser `\u00a0__Host-x` is another name,
 * without the protection of the prefix.
 */
export function readCookie(headers: IncomingHttpHeaders, config: Config, name: CookieName): string | null {
  const start = `${fullName(config, name)}=`;
  // The white space of RFC 6265 §5.2; `trim` also strips Unicode's, which browsers keep in names.
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.replace(/^[ \t]+|[ \t]+$/g, ''));
  const [found, ...more] = pairs.filter((pair) => pair.startsWith(start));
  return found === undefined || more.length > 0 ? null : found.slice(start.length);
}

/** The token in a cookie, or null if it is absent or not exactly in the form of one. */
export function readTokenCookie(headers: IncomingHttpHeaders, config: Config, name: TokenCookieName): string | null {
  const value = readCookie(headers, config, name);
  return value !== null && isToken(value) ? value : null;
}

/** Sets a cookie; `maxAge` in milliseconds, absent means until the browser closes. The value must be plain base64url. */
export function setCookie(reply: FastifyReply, config: Config, name: CookieName, value: string, maxAge?: number): void {
  const age = maxAge === undefined ? '' : `; Max-Age=${Math.floor(maxAge / 1000)}`;
  const secure = isHttps(config) ? '; Secure' : '';
  reply.header('set-cookie', `${fullName(config, name)}=${value}; Path=/; HttpOnly; SameSite=Lax${secure}${age}`);
}

/** Deletes a cookie in the browser. */
export function clearCookie(reply: FastifyReply, config: Config, name: CookieName): void {
  setCookie(reply, config, name, '', 0);
}

/**
 * Whether a pair of a `Cookie` header, or a `Set-Cookie`, has a name of the portal's, as browsers and servers read it: in any
 * case, after blanks, and also as the value of a cookie without a name (RFC 6265bis §5.7).
 */
export function isPortalCookie(pair: string): boolean {
  return /^[\s=]*(?:__host-)?vestibule-/i.test(pair);
}

/** `__Host-` binds a cookie to this host over https; plain http exists on localhost only. */
function fullName(config: Config, name: CookieName): string {
  return `${isHttps(config) ? '__Host-' : ''}vestibule-${name}`;
}

function isHttps(config: Config): boolean {
  return config.publicUrl.protocol === 'https:';
}
