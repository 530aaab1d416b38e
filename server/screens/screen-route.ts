import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptableDestination, defaultDestination } from '#contract/destination.ts';
import type { Page } from '#contract/page.ts';
import { queryNames, redirectOfLegacyPath, type Screen, screenOfPath } from '#contract/screens.ts';
import type { Deps } from '../deps.ts';
import { readTokenCookie } from '../http/cookies.ts';
import { readLastRefusal } from '../http/last-refusal.ts';
import { methodNotAllowed } from '../http/method-not-allowed.ts';
import { languageOverride, queryValue, splitUrl } from '../http/request-url.ts';
import { resetPage } from '../password/reset-page.ts';
import { tokenHash } from '../secrets/token.ts';
import { sessionOfRequest } from '../session/session-of-request.ts';
import { turnOfEndedSession } from '../session/turn-of-ended-session.ts';
import { singleSignOnPage } from '../single-sign-on/single-sign-on-page.ts';
import { isDatabaseAway } from '../storage/connect.ts';
import { findNameOfEndedHalfSession } from '../storage/half-session.ts';
import type { SessionRow } from '../storage/session.ts';
import { secondFactorPage } from '../two-factor/second-factor-page.ts';

/** Every address below the base path that no other route has: a screen, a legacy address, or nothing. */
export function screenRoute(deps: Deps) {
  const { config } = deps;
  const noRoute = methodNotAllowed(deps);

  return async function screen(request: FastifyRequest, reply: FastifyReply) {
    const { path, search } = splitUrl(request.url);
    const below = path.slice(config.basePath.length);
    const current = redirectOfLegacyPath(below);
    if (current) return reply.redirect(config.basePath + current + search, 302);
    const { name } = screenOfPath(below);
    if (name === 'notFound') return await noRoute(request, reply);
    if (name === 'login' && (await isSignedIn(request))) {
      const asked = queryValue(request, queryNames.destination);
      const accepted = asked && acceptableDestination(asked, config.destinationRules);
      return reply.redirect(accepted || startInLanguage(request), 302);
    }
    const turns = await turnOfEndedSession(deps, request, reply).catch(noneWhileAway);
    const page = await pageOf(name, request);
    if ('redirect' in page) return reply.redirect(page.redirect, 302);
    return await deps.pages.send(request, reply, 200, { ...page, ...(turns && { turns }) });
  };

  /** Where sign-in leads by default: the page there is ours, and keeps the language that the visitor chose. */
  function startInLanguage(request: FastifyRequest): string {
    const language = languageOverride(request);
    return defaultDestination(config.basePath) + (language ? `?${queryNames.language}=${language}` : '');
  }

  /** What some screens show in addition, or where they redirect. */
  async function pageOf(name: Screen['name'], request: FastifyRequest): Promise<Partial<Page> | { redirect: string }> {
    if (name === 'login') return await loginPage(request);
    if (name === 'forgottenChange') return await resetPage(deps, request);
    if (name === 'twoFactor' || name === 'twoFactorRegistration') return await secondFactorPage(deps, request);
    if (name === 'singleSignOn') return await singleSignOnPage(deps, request);
    return {};
  }

  /** Keeps the name filled in for anyone who left the second factor for so long that no cookie has it any more. */
  async function loginPage(request: FastifyRequest): Promise<Partial<Page>> {
    const token = readTokenCookie(request.headers, config, 'session');
    if (!token || readLastRefusal(request, config).username !== '') return {};
    const name = await findNameOfEndedHalfSession(deps.sql, tokenHash(token), deps.now()).catch(noneWhileAway);
    return name === null ? {} : { typedUsername: name };
  }

  /** The form must show even while the database is down, so an unknown session counts as none. */
  async function isSignedIn(request: FastifyRequest): Promise<boolean> {
    const session: SessionRow | null = await sessionOfRequest(deps, request).catch(noneWhileAway);
    return session?.stage === 'full';
  }
}

function noneWhileAway(error: unknown): null {
  if (!isDatabaseAway(error)) throw error;
  return null;
}
