import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { readTokenCookie, setCookie } from '../http/cookies.ts';
import { limits } from '../limits.ts';
import { newToken } from '../secrets/token.ts';

/** The token that binds ceremonies to the browser; null if it shows none. */
export function passkeyBrowserToken(request: FastifyRequest, config: Config): string | null {
  return readTokenCookie(request.headers, config, 'passkey');
}

/** The same for a new ceremony. All tabs share one token, so that what one tab begins does not end another's. */
export function keepPasskeyBrowserToken(request: FastifyRequest, reply: FastifyReply, config: Config): string {
  const token = passkeyBrowserToken(request, config) ?? newToken();
  setCookie(reply, config, 'passkey', token, limits.passkeyChallenge);
  return token;
}
