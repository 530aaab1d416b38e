import type { FastifyReply, FastifyRequest } from 'fastify';
import { accountFields, accountSectionOf } from '#contract/account.ts';
import { acceptableDestination, defaultDestination, isDefaultDestination } from '#contract/destination.ts';
import { longestUsername } from '#contract/payloads.ts';
import { type PlainScreen, queryNames, screenOfPath, screenUrl } from '#contract/screens.ts';
import { insertEventOnceAMinute } from '../audit/audit-event.ts';
import type { Config } from '../config/config.ts';
import type { Deps } from '../deps.ts';
import type { KeptForm } from '../http/refuse.ts';
import { languageOverride, queryValue, splitUrl } from '../http/request-url.ts';
import { limits } from '../limits.ts';
import { recordKey } from '../throttle/throttle-keys.ts';
import type { HalfSession } from './half-session.ts';
import type { Who } from './who.ts';

/** Where a visitor goes after signing in: the requested page if it is allowed, else the default. */
export function destinationFor(
  { destinationRules, basePath }: Pick<Config, 'destinationRules' | 'basePath'>,
  asked: string | null | undefined,
): string {
  return (asked && acceptableDestination(asked, destinationRules)) || defaultDestination(basePath);
}

/** Whether a destination sets up an app or changes passkeys, which needs a new sign-in with everything that is required. */
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

export type Onwards = { destination: string; lang: string | undefined };

/** Where the form of a sign-in leads. `accepted`: its destination if it may be gone to, else null. */
export function destinationOfForm(
  { destinationRules, basePath }: Config,
  request: FastifyRequest<{ Body: { redirectURL?: string } }>,
): { onwards: Onwards; accepted: string | null } {
  const { redirectURL: asked } = request.body;
  const accepted = asked ? acceptableDestination(asked, destinationRules) : null;
  const onwards = { destination: accepted ?? defaultDestination(basePath), lang: languageOverride(request) };
  return { onwards, accepted };
}

/**
 * A hook after each answer of the portal's own: records that a destination was asked for that may not be gone to, once a minute
 * for an address and without itself. While one is being recorded others are not: a flood must not cost a statement for each.
 */
export function recordRefusedDestination({ sql, config, now, outage }: Deps) {
  let isRecording = false;
  return async function record(request: FastifyRequest): Promise<void> {
    const { id: requestId, address, body } = request;
    if (request.routeOptions.config.isHubs || address === '' || isRecording || outage.isDatabaseAway) return;
    const { redirectURL, redirectURLSSO } = (body ?? {}) as Record<string, unknown>;
    const inQuery = [queryNames.destination, queryNames.redirectUrl].map((name) => queryValue(request, name));
    const isRefused = [redirectURL, redirectURLSSO, ...inQuery].some(
      (asked) => typeof asked === 'string' && asked !== '' && !acceptableDestination(asked, config.destinationRules),
    );
    if (!isRefused) return;
    isRecording = true;
    const event = { event: 'destination-refused', requestId, address } as const;
    await insertEventOnceAMinute(sql, event, recordKey('destination', address), now()).finally(() => {
      isRecording = false;
    });
  };
}

/** What a form that leads to a sign-in gets back if it cannot be processed. */
export function keptForm(
  { destinationRules, basePath }: Config,
  { username = '', redirectURL }: { username?: string | undefined; redirectURL?: string | undefined },
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
 * Sends a visitor who is not signed in to the screen they need first; it leads on to `page`, a path with its query, or says
 * that it cannot. `status` is 303 after a post.
 */
export function toSignIn(
  deps: Deps,
  reply: FastifyReply,
  { who, page, status = 302 }: { who: Who; page: string; status?: 302 | 303 },
): FastifyReply {
  const { basePath, destinationRules } = deps.config;
  const lang = languageOverride(reply.request);
  const accepted = acceptableDestination(page, destinationRules);
  // The half session determines the screen and its contents.
  if (whereTo(who, 'hub').kind === 'secondFactor')
    return reply.redirect(
      screenUrl(basePath, 'twoFactor', { [queryNames.redirectUrl]: accepted ?? undefined, lang }),
      status,
    );
  if (accepted === null)
    return reply.redirect(screenUrl(basePath, 'login', { [queryNames.notice]: 'pageNotKept', lang }), status);
  // The browser keeps the fragment on redirects; path and query are in the address, one per tab.
  const kept = { [queryNames.destination]: accepted, ...(lang && { lang }) };
  const isDefault = accepted === defaultDestination(basePath);
  return reply.redirect(`${basePath}/${isDefault ? '' : `?${new URLSearchParams(kept)}`}`, status);
}

/** The part of who a visitor is that decides where they are sent. */
export type Standing =
  | { kind: 'nobody' | 'ended' | 'full' }
  | { kind: 'half'; half: Pick<HalfSession, 'mustRegister' | 'codeTries'> };

export type AskedPage = PlainScreen | 'loginFail' | 'hub';

type WhereTo =
  | { kind: 'show' }
  | { kind: 'destination' }
  | { kind: 'secondFactor' }
  | { kind: 'login'; notice?: 'signInExpired' | 'tooManyCodes' };

/** Where a visitor who requests a page is sent; what a screen then shows is up to the screen. */
export function whereTo(standing: Standing, asked: AskedPage): WhereTo {
  switch (asked) {
    case 'login':
      return standing.kind === 'full' ? { kind: 'destination' } : { kind: 'show' };
    case 'hub':
      return atHub(standing);
    case 'twoFactor':
    case 'twoFactorRegistration':
      return atSecondFactor(standing, asked);
    default:
      return { kind: 'show' };
  }
}

function atHub({ kind }: Standing): WhereTo {
  if (kind === 'full') return { kind: 'show' };
  return kind === 'half' ? { kind: 'secondFactor' } : { kind: 'login' };
}

function atSecondFactor(standing: Standing, asked: 'twoFactor' | 'twoFactorRegistration'): WhereTo {
  switch (standing.kind) {
    case 'nobody':
      return { kind: 'login' };
    case 'ended':
      return { kind: 'login', notice: 'signInExpired' };
    case 'half':
      if (standing.half.codeTries >= limits.codeTries) return { kind: 'login', notice: 'tooManyCodes' };
      return asked === screenOfFactor(standing.half) ? { kind: 'show' } : { kind: 'secondFactor' };
    case 'full':
      // A user may add an app voluntarily.
      return asked === 'twoFactorRegistration' ? { kind: 'show' } : { kind: 'destination' };
  }
}

export function screenOfFactor({ mustRegister }: { mustRegister: boolean }): 'twoFactor' | 'twoFactorRegistration' {
  return mustRegister ? 'twoFactorRegistration' : 'twoFactor';
}
