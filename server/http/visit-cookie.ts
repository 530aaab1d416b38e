import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { limits } from '../limits.ts';
import { newToken, tokenHash } from '../secrets/token.ts';
import { clearCookie, readCookie, readTokenCookie, setCookie } from './cookies.ts';

/** The hash of the token by which this browser shows that it began its visits to providers; null if it has none. */
export function visitTokenHash({ headers }: FastifyRequest, config: Config): Buffer | null {
  const token = readTokenCookie(headers, config, 'visit');
  return token === null ? null : tokenHash(token);
}

/** Marks the browser that begins a visit; its tabs share the token. Returns the token's hash. */
export function beginVisit({ headers }: FastifyRequest, reply: FastifyReply, config: Config): Buffer {
  const token = readTokenCookie(headers, config, 'visit') ?? newToken();
  setCookie(reply, config, 'visit', token, limits.ssoRequest);
  return tokenHash(token);
}

/** Ends the visits of the browser: someone signed in or out, and later answers are not theirs. */
export function endVisits({ headers }: FastifyRequest, reply: FastifyReply, config: Config): void {
  if (readCookie(headers, config, 'visit') !== null) clearCookie(reply, config, 'visit');
}
