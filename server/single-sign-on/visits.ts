import type { FastifyRequest } from 'fastify';
import type { Deps } from '../deps/deps.ts';
import { visitCookie, visitsOfBrowser, visitTokenHash } from '../http/visit-cookies.ts';
import { tokenHash } from '../secrets/token.ts';
import type { SsoConnection } from '../storage/sso-connection.ts';
import { listOpenSsoRequests, type SsoRequestRow } from '../storage/sso-request.ts';
import { visitorOf } from '../visitor/visitor.ts';
import { detailsOf } from './request-details.ts';

export function isOpen({ usedAt, endsAt }: SsoRequestRow, now: Date): boolean {
  return usedAt === null && endsAt > now;
}

/** Whether this browser began a visit, by the visit's own cookie. */
export function isOfBrowser({ config }: Deps, request: FastifyRequest, visit: SsoRequestRow): boolean {
  const hash = visitTokenHash(request, config, visit.stateHash);
  return hash !== null && visit.browserHash?.equals(hash) === true;
}

/**
 * Whether a request's session was created by this visit: then its destination belongs to this person. A visit begun by
 * a provider has no destination.
 */
export async function isSessionOf(deps: Deps, request: FastifyRequest, visit: SsoRequestRow): Promise<boolean> {
  const who = await visitorOf(deps, request).who();
  return who.kind === 'full' && (who.session.visitId === visit.id || visit.browserHash === null);
}

/**
 * The cookies of visits that the person signing in began in other tabs of this browser: same provider, same typed
 * address. The rest may be anyone's, including those without a typed address.
 */
export async function visitsOfSamePerson(
  { config, keys, sql, now }: Deps,
  request: FastifyRequest,
  { connection, typed }: { connection: SsoConnection; typed: string | null },
): Promise<ReturnType<typeof visitCookie>[]> {
  if (!typed) return [];
  const tokens = [...visitsOfBrowser(request, config).values()].filter((token) => token !== null);
  if (tokens.length < 2) return [];
  const open = await listOpenSsoRequests(sql, tokens.map(tokenHash), now());
  return open
    .filter((row) => row.connectionId === connection.id && detailsOf(keys, row)?.typed === typed)
    .map(({ stateHash }) => visitCookie(stateHash));
}
