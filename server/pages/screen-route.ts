import type { FastifyReply, FastifyRequest } from 'fastify';
import { defaultDestination, destinationToCarry } from '#contract/destination.ts';
import { noticeOfSearch } from '#contract/notices.ts';
import type { Page } from '#contract/page.ts';
import { queryNames, redirectOfLegacyPath, type Screen, screenOfPath, screenUrl } from '#contract/screens.ts';
import { nullIfDatabaseAway } from '../database/connect.ts';
import type { Deps } from '../deps.ts';
import { secondFactorPage, secondFactorUrl } from '../factors/second-factor-page.ts';
import { toldToPage } from '../http/next-page.ts';
import { languageOverride, queryValue, splitUrl } from '../http/request-url.ts';
import { notFound } from '../http/unexpected-error.ts';
import { destinationFor, toSignIn, whereTo } from '../sessions/destination.ts';
import { visitorOf } from '../sessions/visitor.ts';
import type { Who } from '../sessions/who.ts';
import { invitedPage, resetPage } from '../sign-in/reset-page.ts';
import { singleSignOnPage } from '../single-sign-on/begin-routes.ts';

const formsThatNeedIt: readonly Screen['name'][] = ['login', 'singleSignOn', 'forgotten'];

/** Every address below the base path that no other route has: a screen, a legacy address, or nothing. */
export function screenRoute(deps: Deps) {
  const { config } = deps;
  const answerNotFound = notFound(deps);

  return async function screen(request: FastifyRequest, reply: FastifyReply) {
    const { path, search } = splitUrl(request.url);
    const below = path.slice(config.basePath.length);
    const current = redirectOfLegacyPath(below);
    if (current) return reply.redirect(config.basePath + current + search, 302);
    const { name } = screenOfPath(below);
    if (name === 'notFound') return await answerNotFound(request, reply);
    // The forms must show even while the database is down.
    const who = await visitorOf(deps, request).who().catch(nullIfDatabaseAway);
    if (name === 'login' && noticeOfSearch(search) === 'cookiesNeeded' && request.headers.cookie !== undefined)
      return reply.redirect(afterCookies(request, who), 302);
    // A reload after the outage, whose notice is in the address now.
    if (
      who &&
      !deps.outage.isDatabaseAway &&
      formsThatNeedIt.includes(name) &&
      noticeOfSearch(search) === 'unavailable'
    )
      return reply.redirect(withoutNotice(request), 302);
    if (name === 'login' && who && whereTo(who, name).kind === 'destination')
      return reply.redirect(destinationOf(request), 302);
    const page = await pageOf(name, reply, who);
    if ('redirect' in page) return reply.redirect(page.redirect, 302);
    const outage = who === null || deps.outage.isDatabaseAway ? outageAt(name, request) : {};
    // Only where it has just happened: anybody can make a link with the notice.
    const isSilent = noticeOfSearch(search) === 'providerSilent' && toldToPage(request, config).reference !== null;
    return await deps.pages.send(reply, name === 'loginFail' && isSilent ? 503 : 200, { ...page, ...outage });
  };

  function withoutNotice({ url }: FastifyRequest): string {
    const { path, search } = splitUrl(url);
    const query = new URLSearchParams(search);
    query.delete(queryNames.notice);
    return query.size === 0 ? path : `${path}?${query}`;
  }

  /** The forms that only lead to a 503 while the database is down say so before the attempt, at an address of their own. */
  function outageAt(name: Screen['name'], { url }: FastifyRequest): Partial<Page> {
    const { path, search } = splitUrl(url);
    const query = new URLSearchParams(search);
    if (!formsThatNeedIt.includes(name) || query.has(queryNames.notice)) return {};
    query.set(queryNames.notice, 'unavailable');
    return { url: `${path}?${query}`, isAnswer: true };
  }

  /** Where a browser goes that has kept the cookies of its sign-in. */
  function afterCookies(request: FastifyRequest, who: Who | null): string {
    if (who?.kind === 'full') return destinationOf(request);
    const destination = destinationToCarry(queryValue(request, queryNames.destination), config.destinationRules);
    const lang = languageOverride(request);
    if (who?.kind === 'half') return secondFactorUrl(config.basePath, who.half, { destination, lang });
    return screenUrl(config.basePath, 'login', { [queryNames.destination]: destination, lang });
  }

  /** The default destination, without a hub, is our own page, and keeps the language that the visitor chose. */
  function destinationOf(request: FastifyRequest): string {
    const destination = destinationFor(config, queryValue(request, queryNames.destination));
    const language = languageOverride(request);
    const isOwn = config.hub === null && language !== undefined && destination === defaultDestination(config.basePath);
    return isOwn ? `${destination}?${queryNames.language}=${language}` : destination;
  }

  /** What some screens show in addition, or where they redirect; `who` is null while the database is down. */
  async function pageOf(
    name: Screen['name'],
    reply: FastifyReply,
    who: Who | null,
  ): Promise<Partial<Page> | { redirect: string }> {
    const { request } = reply;
    if (name === 'login') return loginPage(request, who);
    if (name === 'forgottenChange') return await resetPage(deps, reply);
    if (name === 'forgottenChangedInfo' || name === 'forgottenChangeFailedInfo')
      return { screen: { name, ...invitedPage(request) } };
    if (name === 'twoFactor' || name === 'twoFactorRegistration')
      return await secondFactorPage(deps, reply, { screen: name, who });
    if (name === 'singleSignOn') return await singleSignOnPage(deps, request);
    return {};
  }

  /** Keeps the name filled in for anyone who left the second factor for so long that no cookie has it any more. */
  function loginPage(request: FastifyRequest, who: Who | null): Partial<Page> {
    const name = who?.kind === 'ended' ? who.username : null;
    return name === null || toldToPage(request, config).username !== '' ? {} : { typedUsername: name };
  }
}

/** `GET portal.html` where no hub is configured: shows who is signed in and offers sign-out. */
export function standInRoute(deps: Deps) {
  return async function standIn(request: FastifyRequest, reply: FastifyReply) {
    const who = await visitorOf(deps, request).who();
    const to = whereTo(who, 'hub');
    if (to.kind === 'show' && who.kind === 'full') {
      const { username, email, name, customers, groups } = who.session;
      const screen = { name: 'signedIn', person: { username, email, name, customers, groups } } as const;
      return await deps.pages.send(reply, 200, { screen });
    }
    return toSignIn(deps, reply, { who, page: request.url });
  };
}
