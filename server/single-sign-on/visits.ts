import type { FastifyRequest } from 'fastify';
import type { Deps } from '../deps/deps.ts';
import { visitTokenHash } from '../http/visit-cookie.ts';
import type { SsoRequestRow } from '../storage/sso-request.ts';

export function isOpen({ usedAt, endsAt }: SsoRequestRow, now: Date): boolean {
  return usedAt === null && endsAt > now;
}

/** Whether this browser began a visit, by its cookie. */
export function isOfBrowser({ config }: Deps, request: FastifyRequest, visit: SsoRequestRow): boolean {
  const hash = visitTokenHash(request, config);
  return hash !== null && visit.browserHash?.equals(hash) === true;
}
