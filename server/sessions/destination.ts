import type { FastifyReply, FastifyRequest } from 'fastify';
import { accountFields, accountSectionOf } from '#contract/account.ts';
import { acceptableDestination, defaultDestination, isDefaultDestination } from '#contract/destination.ts';
import { longestUsername } from '#contract/payloads.ts';
import { queryNames, screenOfPath, screenUrl } from '#contract/screens.ts';
import { insertAuditEvent, insertEventOnceAMinute } from '../audit/audit-event.ts';
import type { Config } from '../config/config.ts';
import type { Deps } from '../deps.ts';
import type { KeptForm } from '../http/refuse.ts';
import { languageOverride, queryValue, splitUrl } from '../http/request-url.ts';
import { recordKey } from '../throttle/throttle-keys.ts';
import { type KnownVisitor, visitorOf } from './visitor.ts';
import { standingOf, whereTo } from './where-to.ts';
import type { Who } from './who.ts';

/** Where a visitor goes after signing in: the requested page if it is allowed, else the default. */
export function destinationFor(
  { destinationRules, basePath }: Pick<Config, 'destinationRules' | 'basePath'>,
  asked: string | null | undefined,
): string {
  return (asked && acceptableDestination(asked, destinationRules)) || defaultDestination(basePath);
}

/**
 * Whether a destination is the page that sets up an app, or the account page where that or a change of passkeys was begun,
 * which need a new sign-in with everything that is required.
 */
export function leadsToRegistration({ basePath }: Config, destination: string): boolean {
  const { path, search } = splitUrl(destination);
  if (!path.startsWith(`${basePath}/`)) return false;
  const below = path.slice(basePath.length);
  const begun = new URLSearchParams(search).get(accountFields.action);
  switch (accountSectionOf(below)) {
    case 'app':
      return begun === 'setUp';
    case 'passkeys':
      return begun === 'enrol' || begun === 'remove';
    default:
      return screenOfPath(below).name === 'twoFactorRegistration';
  }
}

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

/**
 * Records that a page was opened, or a form sent, with a destination that is not acceptable, which it ignores: once a
 * minute for an address, and after the answer, so that nothing waits for the database because of its query. While one is
 * being recorded, or the database is down, others are not: a flood must not cost a statement for each. What sign-ins ask
 * for is recorded with each of them.
 */
export function refusedDestinationRecorder(deps: Deps): (request: FastifyRequest, reply: FastifyReply) => void {
  let isRecording = false;
  return function record(request, reply) {
    const event = eventOf(deps, request);
    if (!event) return;
    reply.raw.once('close', () => {
      if (isRecording || deps.outage.isDatabaseAway) return;
      isRecording = true;
      insertEventOnceAMinute(deps.sql, event, recordKey('destination', event.address), deps.now())
        .catch((error: unknown) => request.log.error({ err: error }, 'a refused destination could not be recorded'))
        .finally(() => {
          isRecording = false;
        });
    });
  };
}

function eventOf(deps: Deps, request: FastifyRequest) {
  const names = [queryNames.destination, queryNames.redirectUrl];
  const { redirectURL } = (request.body ?? {}) as Record<string, unknown>;
  const isRefused = (asked: unknown) =>
    typeof asked === 'string' && asked !== '' && acceptableDestination(asked, deps.config.destinationRules) === null;
  const refused =
    names.find((name) => isRefused(queryValue(request, name))) ?? (isRefused(redirectURL) && queryNames.redirectUrl);
  const { address } = visitorOf(deps, request);
  if (!refused || address === null) return null;
  const [step, what] = request.method === 'POST' ? ['form', 'sent'] : ['page', 'opened'];
  const steps = [{ step, outcome: `${what} with a ${refused} that is not acceptable` }];
  return { event: 'destination-refused', requestId: request.id, address, steps } as const;
}

/** The same for a form that carries a destination without being a sign-in: a hook of its route. */
export function recordsRefusedDestination(deps: Deps) {
  const record = refusedDestinationRecorder(deps);
  return async (request: FastifyRequest, reply: FastifyReply) => record(request, reply);
}

/**
 * Sends a visitor who is not signed in to the screen they need first; it leads on to `page`, a path with its query. `status`
 * is 303 after a post.
 */
export function toSignIn(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { who, page, status = 302 }: { who: Who; page: string; status?: 302 | 303 },
): FastifyReply {
  const { basePath } = deps.config;
  const lang = languageOverride(request);
  // The half session determines the screen and its contents.
  if (whereTo(standingOf(who), 'hub').kind === 'secondFactor')
    return reply.redirect(screenUrl(basePath, 'twoFactor', { [queryNames.redirectUrl]: page, lang }), status);
  // The browser keeps the fragment on redirects; path and query are in the address, one per tab.
  const kept = { [queryNames.destination]: page, ...(lang && { lang }) };
  const isDefault = page === defaultDestination(basePath);
  return reply.redirect(`${basePath}/${isDefault ? '' : `?${new URLSearchParams(kept)}`}`, status);
}
