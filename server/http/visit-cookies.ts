import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { limits } from '../limits.ts';
import { clearCookie, listCookies, readTokenCookie, setCookie, type TokenCookieName } from './cookies.ts';

/** As many characters of the state's hash as keep the visits of one browser apart. */
const told = 8;

type VisitCookie = TokenCookieName & `visit-${string}`;

/**
 * The cookie that says which browser began a visit to a provider. Each visit has its own, with a token of its own: who had
 * the browser before holds nothing of the next visit, and a visit that is over has nothing left for the next person.
 */
export function visitCookie(stateHash: Buffer): VisitCookie {
  return `visit-${stateHash.toString('base64url').slice(0, told)}`;
}

/** The tokens of the visits that this browser has out, by the names of their cookies, the oldest first (RFC 6265 §5.4). */
export function visitsOfBrowser({ headers }: FastifyRequest, config: Config): Map<VisitCookie, string | null> {
  const names = listCookies(headers, config, 'visit-').filter((name): name is VisitCookie => isVisitCookie.test(name));
  return new Map(names.map((name) => [name, readTokenCookie(headers, config, name)]));
}

const isVisitCookie = /^visit-[\w-]{8}$/;

/** Notes in the browser that it began a visit; where too many are out the oldest go. */
export function beginVisit(
  request: FastifyRequest,
  reply: FastifyReply,
  config: Config,
  { stateHash, token }: { stateHash: Buffer; token: string },
): void {
  const names = [...visitsOfBrowser(request, config).keys()];
  for (const name of names.slice(0, Math.max(0, names.length + 1 - limits.visitsOfBrowser)))
    clearCookie(reply, config, name);
  setCookie(reply, config, visitCookie(stateHash), token, limits.ssoRequest);
}

/** Takes a visit out of the browser: it is over. */
export function endVisit(request: FastifyRequest, reply: FastifyReply, config: Config, stateHash: Buffer): void {
  const name = visitCookie(stateHash);
  if (visitsOfBrowser(request, config).has(name)) clearCookie(reply, config, name);
}

/** Takes all visits out of the browser but those that stay: somebody signed in or out, and the next answer is not theirs. */
export function endVisits(
  request: FastifyRequest,
  reply: FastifyReply,
  config: Config,
  stay: readonly VisitCookie[] = [],
): void {
  for (const name of visitsOfBrowser(request, config).keys())
    if (!stay.includes(name)) clearCookie(reply, config, name);
}
