import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { readTokenCookie, setCookie } from '../http/cookies.ts';
import { limits } from '../limits.ts';
import { newToken } from '../secrets/token.ts';

/**
 * The token that binds ceremonies to the browser, for a new one. All tabs share it, so that what one tab begins does not end
 * another's; and it outlives them, so that two tabs seldom get a first one each, of which the later answer's stays.
 */
export function keepPasskeyBrowserToken(request: FastifyRequest, reply: FastifyReply, config: Config): string {
  const token = readTokenCookie(request.headers, config, 'passkey') ?? newToken();
  setCookie(reply, config, 'passkey', token, limits.passkeyBrowser);
  return token;
}
