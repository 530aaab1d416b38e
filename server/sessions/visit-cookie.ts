import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { newToken, tokenHash } from '../crypto/token.ts';
import type { Deps } from '../deps.ts';
import { clearCookie, readCookie, readTokenCookie, setCookie } from '../http/cookies.ts';
import { limits } from '../limits.ts';
import { deleteVisitsOfBrowser, endVisitsOfBrowser } from './visit.ts';

/** The hash of the token by which this browser shows that it began its visits to providers; null if it has none. */
export function visitTokenHash({ headers }: FastifyRequest, config: Config): Buffer | null {
  const token = readTokenCookie(headers, config, 'visit');
  return token === null ? null : tokenHash(token);
}

/** Marks the browser that begins a visit; its tabs share the token. Returns the token's hash. */
export function markBrowser({ headers }: FastifyRequest, reply: FastifyReply, config: Config): Buffer {
  const token = readTokenCookie(headers, config, 'visit') ?? newToken();
  setCookie(reply, config, 'visit', token, limits.visit + limits.visitRemembered);
  return tokenHash(token);
}

/** Somebody signed in: an answer that comes later signs in nobody, and leads the tab on. */
export async function endVisits({ config, sql, now }: Deps, request: FastifyRequest): Promise<void> {
  const cookieHash = visitTokenHash(request, config);
  if (cookieHash) await endVisitsOfBrowser(sql, cookieHash, now());
}

/** Somebody signed out: nothing of their visits is left. */
export async function forgetVisits({ config, sql }: Deps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const cookieHash = visitTokenHash(request, config);
  if (cookieHash) await deleteVisitsOfBrowser(sql, cookieHash);
  if (readCookie(request.headers, config, 'visit') !== null) clearCookie(reply, config, 'visit');
}
