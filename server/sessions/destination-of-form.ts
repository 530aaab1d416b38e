import type { FastifyRequest } from 'fastify';
import { acceptableDestination, defaultDestination, isDefaultDestination } from '#contract/destination.ts';
import { longestUsername } from '#contract/payloads.ts';
import { insertAuditEvent } from '../audit/audit-event.ts';
import type { Config } from '../config/config.ts';
import type { Deps } from '../deps.ts';
import type { KeptForm } from '../http/refuse.ts';
import { languageOverride } from '../http/request-url.ts';
import type { KnownVisitor } from './visitor.ts';

/** Where a sign-in leads, in which language, and from where. */
export type Onwards = { destination: string; lang: string | undefined; address: string };

/** Where the form of a sign-in leads. `accepted`: its destination if it may be gone to, else null; `isRefused`: it may not. */
export function destinationOfForm(
  { destinationRules, basePath }: Config,
  request: FastifyRequest<{ Body: { redirectURL?: string } }>,
  { address }: Pick<KnownVisitor, 'address'>,
): { onwards: Onwards; accepted: string | null; isRefused: boolean } {
  const { redirectURL: asked } = request.body;
  const accepted = asked ? acceptableDestination(asked, destinationRules) : null;
  const onwards = { destination: accepted ?? defaultDestination(basePath), lang: languageOverride(request), address };
  return { onwards, accepted, isRefused: Boolean(asked) && accepted === null };
}

/**
 * Records that a sign-in whose destination may not be gone to succeeded, or that one was begun at a provider: each, as both
 * are throttled before.
 */
export async function recordRefusedDestination(
  { sql, now }: Pick<Deps, 'sql' | 'now'>,
  { id: requestId }: FastifyRequest,
  address: string,
): Promise<void> {
  await insertAuditEvent(sql, { event: 'destination-refused', requestId, address }, now());
}

/** What a form that leads to a sign-in gets back if it cannot be processed. */
export function keptForm(
  { destinationRules, basePath }: Config,
  { username = '', redirectURL }: { username?: string; redirectURL?: string | undefined },
): KeptForm {
  const accepted = redirectURL ? acceptableDestination(redirectURL, destinationRules) : null;
  return {
    typedUsername: [...username].slice(0, longestUsername).join(''),
    destination: accepted ? destinationToKeep(basePath, accepted) : undefined,
  };
}

/** The part of a destination that a failure page carries: without the fragment, and nothing for the default. */
export function destinationToKeep(basePath: string, destination: string): string | undefined {
  const kept = destination.split('#', 1)[0] as string;
  return isDefaultDestination(kept, basePath) ? undefined : kept;
}
