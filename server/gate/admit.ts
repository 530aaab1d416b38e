import type { FastifyRequest } from 'fastify';
import { errorCodes } from 'fastify';
import type { SessionAnswer } from '#contract/payloads.ts';
import type { HubRule } from '../config/hub.ts';
import type { Deps } from '../deps/deps.ts';
import { isForeignAhead } from '../http/navigation.ts';
import { isFromOwnOrigin } from '../http/same-origin.ts';
import { limits } from '../limits.ts';
import { askedTogether } from '../session/asked-together.ts';
import { sessionAnswer } from '../session/session-answer.ts';
import { findCheckedSessions, type NamedSession, type PresentedSession } from '../storage/session.ts';
import type { KnownVisitor } from '../visitor/visitor.ts';
import { type Access, accessTo, meets } from './access.ts';
import type { HubPath } from './read-path.ts';

/** Who is signed in, and what a hub's token says besides. */
export type Identity = NamedSession & { person: SessionAnswer };

/** Whether a request may reach the hub, and as whom; `identity` is null for nobody. */
export type Admission =
  | { kind: 'admitted'; identity: Identity | null }
  | { kind: 'signedOut' }
  /** Signed in, but as a user of none of the customers that the path is for. */
  | { kind: 'noAccess'; identity: Identity; access: Extract<Access, { kind: 'signedIn' }> }
  /** Another site's page wants to change something, or to open a WebSocket. */
  | { kind: 'foreignSite' }
  /** A page of another host has it fetched ahead, to be shown to whoever comes next. */
  | { kind: 'ahead' };

/**
 * Judges requests for the hub by their paths, their sessions and where they come from. Throws if the database is down: a
 * request that nothing was found out about is never admitted.
 */
export function admission(deps: Deps, rules: readonly HubRule[]) {
  const findChecked = askedTogether((presented: readonly PresentedSession[]) =>
    findCheckedSessions(deps.sql, presented),
  );

  return async function admit(
    request: FastifyRequest,
    visitor: KnownVisitor,
    path: HubPath,
    isUpgrade: boolean,
  ): Promise<Admission> {
    const access = accessTo(path, rules);
    const mayChange = isUpgrade || (request.method !== 'GET' && request.method !== 'HEAD');
    const isForeign = mayChange && !isFromOwnOrigin(request.headers, deps.config.origins);
    if (isForeign) return access.kind === 'public' ? { kind: 'admitted', identity: null } : { kind: 'foreignSite' };
    const signedIn = await inTime(sessionAnswer(deps, visitor, findChecked));
    const identity = signedIn && { ...signedIn, person: JSON.parse(signedIn.answer) as SessionAnswer };
    const isAhead = identity !== null && isForeignAhead(request.headers);
    if (access.kind === 'public') return { kind: 'admitted', identity: isAhead ? null : identity };
    if (isAhead) return { kind: 'ahead' };
    if (identity === null) return { kind: 'signedOut' };
    if (meets(access, identity.person.customers)) return { kind: 'admitted', identity };
    return { kind: 'noAccess', identity, access };
  };
}

/** A check has the same deadline as every route; passing on has none. */
export async function inTime<T>(check: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new errorCodes.FST_ERR_HANDLER_TIMEOUT()), limits.handlerTimeout);
  try {
    return await Promise.race([check, promise]);
  } finally {
    clearTimeout(timer);
  }
}
