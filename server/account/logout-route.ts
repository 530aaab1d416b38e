import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { defaultDestination } from '#contract/destination.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import type { Config } from '../config/config.ts';
import type { Deps } from '../deps.ts';
import { isAheadOfPerson, namesOwnOrigin } from '../http/fetch-metadata.ts';
import type { FormKeeper } from '../http/form-again.ts';
import { refuseForeignSite } from '../http/guards.ts';
import { tellNextPage } from '../http/next-page.ts';
import { refuse } from '../http/refuse.ts';
import { destinationOfAddress, languageOverride, queryValue, wantsPage } from '../http/request-url.ts';
import { sendFormPolicy } from '../http/security-headers.ts';
import { leadsToRegistration } from '../sessions/destination.ts';
import { isSignOutQuestion, signOutHere, signOutQuestionUrl } from '../sessions/end-sessions.ts';
import { visitorOf } from '../sessions/visitor.ts';
import { signOutAtProvider } from '../single-sign-on/sign-out-at-provider.ts';

/**
 * `GET logout`: ends the session if our own page or the person asks for it; a request from elsewhere, or
 * a prefetch, changes nothing and leads to a page that asks. That page has an address of its own: what reloads it, or chooses a
 * language there, is our own page. `?forget=connection` also forgets by which connection this browser signs in.
 */
export function logoutRoute(deps: Deps) {
  return async function logout(request: FastifyRequest, reply: FastifyReply) {
    const { config } = deps;
    const { headers } = request;
    if (!isWanted(headers)) return await refuseForeignSite(deps, reply);
    if (isSignOutQuestion(request)) return await askFirst(deps, request, reply);
    if (isOurs(headers, config.origins) && !isAheadOfPerson(headers)) return await signOut(deps, request, reply);
    if (!wantsPage(request)) return await refuseForeignSite(deps, reply);
    const { forget } = purposeOf(request, config);
    return reply.redirect(signOutQuestionUrl(config.basePath, { forget, lang: languageOverride(request) }), 303);
  };
}

/** Names who is signed in, and asks; if nobody is, there is only the form. */
async function askFirst(deps: Deps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { config } = deps;
  const who = await visitorOf(deps, request).who();
  const { destination, forget } = purposeOf(request, config);
  if (who.kind !== 'full') return reply.redirect(loginUrl(request, config), 303);
  const query = {
    ...(forget && { [queryNames.forget]: forget }),
    ...(destination && { [queryNames.destination]: destination }),
  };
  const screen = { name: 'signOutConfirm', query, account: who.session.username } as const;
  return await deps.pages.send(reply, 200, { screen });
}

/** A page, or a script's request: nobody clicks what a browser loads as an image or frame. */
function isWanted(headers: IncomingHttpHeaders): boolean {
  return ['document', 'empty', undefined].includes(headers['sec-fetch-dest'] as string | undefined);
}

/** `none`: typed by the person; a browser without Sec-Fetch-Site cannot say so. */
function isOurs(headers: IncomingHttpHeaders, ownOrigins: readonly string[]): boolean {
  const site = headers['sec-fetch-site'];
  return site === undefined ? namesOwnOrigin(headers, ownOrigins) : site === 'same-origin' || site === 'none';
}

/** `POST logout`: the guard has checked that it comes from our own page. */
export function logoutConfirmedRoute(deps: Deps) {
  return async function logoutConfirmed(request: FastifyRequest, reply: FastifyReply) {
    return await signOut(deps, request, reply);
  };
}

/** While the database is down its button stays, with what it was to do; the session is as it was. */
export function logoutAgain(deps: Deps): FormKeeper {
  return async function giveAgain(reply, wait) {
    const { destination, forget } = purposeOf(reply.request, deps.config);
    const query = { [queryNames.destination]: destination, [queryNames.forget]: forget };
    return await refuse(deps, reply, 503, { ...wait, again: { call: 'logoutConfirmed', query } });
  };
}

async function signOut(deps: Deps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { config } = deps;
  const { destination, forget } = purposeOf(request, config);
  const ended = await signOutHere(deps, reply, { forgets: forget !== undefined });
  // Our button with a destination begins another sign-in there: its tab keeps where it was going.
  const goesOn = request.method === 'POST' && destination !== undefined;
  // Who cancels a registration, or signs in again to set up an app, is still the same person.
  const setsUpApp = goesOn && leadsToRegistration(config, destination);
  const isSamePerson = ended !== null && (ended.stage === 'half' ? ended.mustRegister : setsUpApp);
  const username = isSamePerson ? ended.username : '';
  tellNextPage(reply, config, { username, isSignedOut: !goesOn && ended?.stage !== 'half' });
  if (!wantsPage(request)) return reply.code(204).send();
  const away = ended && !goesOn && (await signOutAtProvider(deps, ended));
  if (!away) return reply.redirect(loginUrl(request, config), 303);
  const { url, provider, fields } = away;
  if (fields) sendFormPolicy(reply, url);
  const screen = { name: 'leaving', isSignOut: true, url, provider, ...(fields && { fields }) } as const;
  return await deps.pages.send(reply, 200, { screen });
}

function purposeOf(request: FastifyRequest, config: Config) {
  const isToForget = queryValue(request, queryNames.forget) === 'connection';
  const goesOn = queryValue(request, queryNames.destination) !== null;
  return {
    destination: goesOn ? (destinationOfAddress(request, config) ?? defaultDestination(config.basePath)) : undefined,
    forget: isToForget ? ('connection' as const) : undefined,
  };
}

function loginUrl(request: FastifyRequest, config: Config): string {
  const destination = destinationOfAddress(request, config);
  const query = { [queryNames.destination]: destination, [queryNames.language]: languageOverride(request) };
  return screenUrl(config.basePath, 'login', query);
}
