import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { limits } from '../limits.ts';
import { tokenHash } from '../secrets/token.ts';
import { clearCookie, readTokenCookie } from './cookies.ts';
import { type FamilyCookie, familyCookie, familyOfBrowser, setFamilyCookie } from './family-cookies.ts';

type VisitCookie = FamilyCookie<'visit'>;

/**
 * The cookie that shows which browser began a visit to a provider. Each visit has its own cookie and token: an earlier
 * user of the browser holds nothing of the next visit, and a finished visit leaves nothing for the next person.
 */
export function visitCookie(stateHash: Buffer): VisitCookie {
  return familyCookie('visit', stateHash);
}

/** The tokens of this browser's open visits, by cookie name, oldest first (RFC 6265 §5.4). */
export function visitsOfBrowser(request: FastifyRequest, config: Config): Map<VisitCookie, string | null> {
  return familyOfBrowser('visit', request, config);
}

/** The hash of the token by which this browser shows that it began a visit; null if it has none. */
export function visitTokenHash({ headers }: FastifyRequest, config: Config, stateHash: Buffer): Buffer | null {
  const token = readTokenCookie(headers, config, visitCookie(stateHash));
  return token === null ? null : tokenHash(token);
}

/** Marks in the browser that it began a visit; if too many are open the oldest are dropped. */
export function beginVisit(
  request: FastifyRequest,
  reply: FastifyReply,
  config: Config,
  { stateHash, token }: { stateHash: Buffer; token: string },
): void {
  const cookie = { name: visitCookie(stateHash), token, maxAge: limits.ssoRequest, most: limits.visitsOfBrowser };
  setFamilyCookie('visit', request, reply, config, cookie);
}

/** Removes a finished visit from the browser. */
export function endVisit(request: FastifyRequest, reply: FastifyReply, config: Config, stateHash: Buffer): void {
  const name = visitCookie(stateHash);
  if (visitsOfBrowser(request, config).has(name)) clearCookie(reply, config, name);
}

/** Removes all visits from the browser: someone signed in or out, and later answers are not theirs. */
export function endVisits(request: FastifyRequest, reply: FastifyReply, config: Config): void {
  for (const name of visitsOfBrowser(request, config).keys()) clearCookie(reply, config, name);
}
