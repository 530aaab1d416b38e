import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Notice } from '#contract/notices.ts';
import type { OpenSecondFactor, Page } from '#contract/page.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import { nullIfDatabaseAway } from '../database/connect.ts';
import type { Deps } from '../deps.ts';
import { languageOverride, queryValue, splitUrl } from '../http/request-url.ts';
import type { OpenFactor } from '../people/sign-in-policy.ts';
import { destinationFor, screenOfFactor, whereTo } from '../sessions/destination.ts';
import type { HalfSession } from '../sessions/half-session.ts';
import { visitorOf } from '../sessions/visitor.ts';
import type { Who } from '../sessions/who.ts';
import { findEmailCode, waitBeforeSend } from './email-code.ts';
import { hasOwnSignIn } from './may-change-factors.ts';
import { hasPasskey } from './passkey.ts';
import { countRecoveryCodes } from './recovery-codes.ts';
import { openRegistration, type RegistrationResult } from './registration.ts';

type SecondFactorScreen = 'twoFactor' | 'twoFactorRegistration';
type Shown = Partial<Page> | { redirect: string };

/**
 * What a second-factor screen shows, or where it redirects: to the sign-in form if nothing is pending, to the destination if the
 * visitor is signed in, else to the screen that this half session waits on. In an outage (`who` is null) it is shown.
 */
export async function secondFactorPage(
  deps: Deps,
  reply: FastifyReply,
  { screen, who }: { screen: SecondFactorScreen; who: Who | null },
): Promise<Shown> {
  const shown = who && (await pageOf(deps, reply, screen, who).catch(nullIfDatabaseAway));
  // Its owner cannot be determined: then no name either, not even the typed one.
  return shown ?? { typedUsername: '' };
}

async function pageOf(deps: Deps, reply: FastifyReply, screen: SecondFactorScreen, who: Who): Promise<Shown> {
  const { request } = reply;
  // A code by email is confirmed only while signing in: who goes back to that screen afterwards adds no app.
  const asked = who.kind === 'full' && isFlaggedAsEmail(request) ? 'twoFactor' : screen;
  const to = whereTo(who, asked);
  if (to.kind === 'login') return toSignIn(deps, request, to.notice);
  if (who.kind === 'half') return await halfPage(deps, reply, screen, who);
  if (who.kind === 'full' && to.kind === 'show') return await ownAppPage(deps, reply);
  return { redirect: destinationFor(deps.config, askedFor(request)) };
}

async function halfPage(
  deps: Deps,
  reply: FastifyReply,
  screen: SecondFactorScreen,
  who: Who & { kind: 'half' },
): Promise<Shown> {
  const { request } = reply;
  const { half } = who;
  const redirect = rightAddress(deps, request, half);
  if (redirect) return { redirect };
  const registration =
    half.mustRegister && half.factor === 'app' ? await openRegistration(deps, reply, visitorOf(deps, request)) : null;
  const secondFactor = await openSecondFactor(deps, half);
  switch (registration?.kind) {
    case 'byPasskey':
      return {
        screen: {
          name: 'registerElsewhere',
          why: 'passkey',
          comesBackTo: null,
          goesOnTo: null,
          ...(secondFactor.hasPasskey && { hasPasskey: true }),
        },
      };
    case 'network':
    case 'notFromProvider':
      return await elsewhere(deps, request, registration, null);
    case 'open':
    case 'signInAgain':
    case 'refused':
    case 'signedOut':
    case undefined: {
      if (screen === 'twoFactor') return { screen: { name: screen, secondFactor } };
      const shown = registration?.kind === 'open' && { registration: registration.answer };
      return { screen: { name: screen, secondFactor, ...shown } };
    }
  }
}

function rightAddress({ config }: Deps, request: FastifyRequest, { factor, mustRegister }: OpenFactor): string | null {
  const right = screenUrl(config.basePath, screenOfFactor({ mustRegister }));
  const { path, search } = splitUrl(request.url);
  const query = new URLSearchParams(search);
  if (path.replace(/\/$/, '') === right && isFlaggedAsEmail(request) === (factor === 'email')) return null;
  if (factor === 'email') query.set(queryNames.codeSentViaEmail, 'true');
  else query.delete(queryNames.codeSentViaEmail);
  return query.size > 0 ? `${right}?${query}` : right;
}

async function openSecondFactor(deps: Deps, half: HalfSession): Promise<OpenSecondFactor> {
  const { id, userId, username, factor, mustRegister, waitsFor, customers } = half;
  const wait = factor === 'email' ? await waitBeforeSend(deps, id, half, deps.now()) : null;
  const isNotSent = factor === 'email' && (await findEmailCode(deps.sql, id)) === null;
  return {
    account: username,
    mayRemember: waitsFor.length === 1 && customers.every(({ rememberDevices }) => rememberDevices),
    mayRecover: factor === 'app' && !mustRegister && (await countRecoveryCodes(deps.sql, userId)) > 0,
    sendAgainAfter: wait === null ? 0 : wait.retryAfter === null ? null : Math.ceil(wait.retryAfter / 1000),
    ...((await hasUsablePasskey(deps, half)) && { hasPasskey: true as const }),
    ...(isNotSent && { isCodeNotSent: true }),
  };
}

/** After a password only, and only where a passkey opens all that the code would: not the customers that take none. */
async function hasUsablePasskey({ sql, config }: Deps, half: HalfSession): Promise<boolean> {
  const { userId, connectionId, customers } = half;
  if (connectionId !== null || !config.passkeys || !customers.every(({ takesPasskeys }) => takesPasskeys)) return false;
  return await hasPasskey(sql, { userId, rpId: config.passkeys.id });
}

/** A browser that still holds a sign-in's cookie is told that it has ended; signing out deletes the cookie. */
function toSignIn({ config }: Deps, request: FastifyRequest, notice: Notice | undefined): { redirect: string } {
  const query = {
    [queryNames.notice]: notice,
    [queryNames.destination]: askedFor(request),
    [queryNames.language]: languageOverride(request),
  };
  return { redirect: screenUrl(config.basePath, 'login', query) };
}

async function ownAppPage(deps: Deps, reply: FastifyReply): Promise<Shown> {
  const { request } = reply;
  const goesOnTo = destinationFor(deps.config, askedFor(request));
  const registration = await openRegistration(deps, reply, visitorOf(deps, request));
  switch (registration.kind) {
    case 'open': {
      const redirect = rightAddress(deps, request, { factor: 'app', mustRegister: true });
      if (redirect) return { redirect };
      const { account, answer } = registration;
      const secondFactor = { account, mayRemember: false, mayRecover: false, sendAgainAfter: 0, goesOnTo };
      return { screen: { name: 'twoFactorRegistration', secondFactor, registration: answer } };
    }
    case 'signInAgain':
      return { screen: { name: 'registerElsewhere', why: 'tooOld', comesBackTo: sameAgain(deps, request), goesOnTo } };
    case 'network':
    case 'notFromProvider':
      return await elsewhere(deps, request, registration, goesOnTo);
    case 'byPasskey':
    case 'refused':
    case 'signedOut':
      return { redirect: goesOnTo };
  }
}

/** Where a sign-in's page leads if it may not set up an app: who has a way in of their own comes back by it. */
async function elsewhere(
  deps: Deps,
  request: FastifyRequest,
  { kind, userId }: Extract<RegistrationResult, { userId: string }>,
  goesOnTo: string | null,
): Promise<Partial<Page>> {
  if (kind === 'network') return { screen: { name: 'registerElsewhere', why: 'network', comesBackTo: null, goesOnTo } };
  const signsInAlone = await hasOwnSignIn(deps.sql, userId);
  const comesBackTo = signsInAlone ? sameAgain(deps, request) : null;
  return { screen: { name: 'registerElsewhere', why: 'provider', comesBackTo, goesOnTo } };
}

function sameAgain({ config }: Deps, request: FastifyRequest): string {
  const onwards = { destination: askedFor(request), lang: languageOverride(request) };
  return secondFactorUrl(config.basePath, { factor: 'app', mustRegister: true }, onwards);
}

function isFlaggedAsEmail(request: FastifyRequest): boolean {
  return queryValue(request, queryNames.codeSentViaEmail) === 'true';
}

function askedFor(request: FastifyRequest): string | undefined {
  return queryValue(request, queryNames.redirectUrl) ?? undefined;
}

/** The address of a half session's screen, with its parameters. */
export function secondFactorUrl(
  basePath: string,
  { factor, mustRegister }: OpenFactor,
  {
    destination,
    lang,
    ...more
  }: { destination: string | undefined; lang: string | undefined; [name: string]: string | undefined },
): string {
  return screenUrl(basePath, mustRegister ? 'twoFactorRegistration' : 'twoFactor', {
    [queryNames.redirectUrl]: destination,
    [queryNames.codeSentViaEmail]: factor === 'email' ? 'true' : undefined,
    ...more,
    lang,
  });
}
