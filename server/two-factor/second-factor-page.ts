import type { FastifyRequest } from 'fastify';
import { acceptableDestination, defaultDestination } from '#contract/destination.ts';
import { type Notice, noticeOfSearch } from '#contract/notices.ts';
import type { OpenSecondFactor, Page } from '#contract/page.ts';
import { queryNames, screenOfPath, screenUrl } from '#contract/screens.ts';
import type { Deps } from '../deps.ts';
import { readTokenCookie } from '../http/cookies.ts';
import { addressOf } from '../http/guards.ts';
import { languageOverride, queryValue, splitUrl } from '../http/request-url.ts';
import { limits } from '../limits.ts';
import { tokenHash } from '../secrets/token.ts';
import { sessionOfToken } from '../session/session.ts';
import { isDatabaseAway } from '../storage/connect.ts';
import { findEmailCode } from '../storage/email-code.ts';
import { findHalfSession, type HalfSession } from '../storage/half-session.ts';
import { countRecoveryCodes } from '../storage/recovery-code.ts';
import { findPendingTotp } from '../storage/totp.ts';
import { openRegistration } from './registration.ts';
import { secondFactorUrl } from './second-factor-url.ts';
import { waitBeforeSend } from './send-email-code.ts';

/**
 * What a second-factor screen shows (decisions §13), or where it redirects: with nothing pending to the sign-in form,
 * which says so if something was; signed in to the destination; otherwise to the screen that this half session waits
 * on, whatever the address says. While the database is down the screen is shown unchanged.
 */
export async function secondFactorPage(
  deps: Deps,
  request: FastifyRequest,
): Promise<Partial<Page> | { redirect: string }> {
  const token = readTokenCookie(request.headers, deps.config, 'session');
  const address = addressOf(deps, request);
  try {
    const half = token && address ? await findHalfSession(deps.sql, tokenHash(token), address, deps.now()) : null;
    if (token && address && half && half.codeTries < limits.codeTries)
      return await pageOf(deps, request, half, token, address);
    const session = token && address ? await sessionOfToken(deps, token, address) : null;
    if (token && address && session?.stage === 'full')
      return await signedInPage(deps, request, session.username, token, address);
    return toSignIn(deps, request, half ? 'tooManyCodes' : token ? 'signInExpired' : undefined);
  } catch (error) {
    // Its owner cannot be determined: then no name either, not even the typed one.
    if (isDatabaseAway(error)) return { typedUsername: '' };
    throw error;
  }
}

async function pageOf(
  deps: Deps,
  request: FastifyRequest,
  half: HalfSession,
  token: string,
  address: string,
): Promise<Partial<Page> | { redirect: string }> {
  const { factor, mustRegister } = half;
  const redirect = rightAddress(deps, request, half);
  if (redirect) return { redirect };
  const registration =
    mustRegister && factor === 'app' ? await openRegistration(deps, token, address).catch(() => null) : null;
  if (registration?.kind === 'elsewhere') return elsewhere(deps, request, registration, null);
  return {
    secondFactor: await openSecondFactor(deps, half, tokenHash(token)),
    ...(registration?.kind === 'open' && { registration: registration.answer }),
  };
}

/** The address of the pending screen, or null if it is the requested one. */
function rightAddress(
  { config }: Deps,
  request: FastifyRequest,
  { factor, mustRegister }: Pick<HalfSession, 'factor' | 'mustRegister'>,
): string | null {
  const right = screenUrl(config.basePath, mustRegister ? 'twoFactorRegistration' : 'twoFactor');
  const { path, search } = splitUrl(request.url);
  const query = new URLSearchParams(search);
  const isFlagged = query.get(queryNames.codeSentViaEmail) === 'true';
  if (path.replace(/\/$/, '') === right && isFlagged === (factor === 'email')) return null;
  if (factor === 'email') query.set(queryNames.codeSentViaEmail, 'true');
  else query.delete(queryNames.codeSentViaEmail);
  return query.size > 0 ? `${right}?${query}` : right;
}

async function openSecondFactor(deps: Deps, half: HalfSession, hash: Buffer): Promise<OpenSecondFactor> {
  const { userId, username, factor, mustRegister, customers } = half;
  const wait = factor === 'email' ? await waitBeforeSend(deps, hash, half, deps.now()) : null;
  const isNotSent = factor === 'email' && (await findEmailCode(deps.sql, hash)) === null;
  return {
    account: username,
    mayRemember: customers.every(({ rememberDevices }) => rememberDevices),
    mayRecover: factor === 'app' && !mustRegister && (await countRecoveryCodes(deps.sql, userId)) > 0,
    sendAgainAfter: wait === null ? 0 : wait.retryAfter === null ? null : Math.ceil(wait.retryAfter / 1000),
    ...(isNotSent && { isCodeNotSent: true }),
  };
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

/** Nothing is pending: a signed-in user may set up an app voluntarily. */
async function signedInPage(
  deps: Deps,
  request: FastifyRequest,
  account: string,
  token: string,
  address: string,
): Promise<Partial<Page> | { redirect: string }> {
  const { config } = deps;
  const asked = askedFor(request);
  const goesOnTo =
    (asked && acceptableDestination(asked, config.destinationRules)) || defaultDestination(config.basePath);
  const registration = (await isSettingUp(deps, request, token)) ? await openRegistration(deps, token, address) : null;
  if (registration?.kind === 'elsewhere') return elsewhere(deps, request, registration, goesOnTo);
  if (registration?.kind === 'tooOld')
    return { serverPage: { name: 'signInOnceMore', comesBackTo: sameAgain(deps, request), goesOnTo } };
  if (registration?.kind !== 'open') return { redirect: goesOnTo };
  const redirect = rightAddress(deps, request, { factor: 'app', mustRegister: true });
  if (redirect) return { redirect };
  return {
    secondFactor: { account, mayRemember: false, mayRecover: false, sendAgainAfter: 0, goesOnTo },
    registration: registration.answer,
  };
}

/** Where a sign-in's page leads if it may not set up an app. */
function elsewhere(
  deps: Deps,
  request: FastifyRequest,
  { withPassword }: { withPassword: boolean },
  goesOnTo: string | null,
): Partial<Page> {
  const comesBackTo = withPassword ? sameAgain(deps, request) : null;
  return { serverPage: { name: 'registerElsewhere', comesBackTo, goesOnTo } };
}

/** The same page again after another sign-in, in the same language, and from there on as before. */
function sameAgain({ config }: Deps, request: FastifyRequest): string {
  const way = { destination: askedFor(request), lang: languageOverride(request) };
  return secondFactorUrl(config.basePath, { factor: 'app', mustRegister: true }, way);
}

/** Without JavaScript a refused code leads to the other screen, with a notice: an app is still being set up. */
async function isSettingUp(deps: Deps, request: FastifyRequest, token: string): Promise<boolean> {
  if (screenName(deps, request) === 'twoFactorRegistration') return true;
  const isAnswer = noticeOfSearch(splitUrl(request.url).search) !== null;
  return isAnswer && (await findPendingTotp(deps.sql, tokenHash(token))) !== null;
}

function askedFor(request: FastifyRequest): string | undefined {
  return queryValue(request, queryNames.redirectUrl) ?? undefined;
}

function screenName({ config }: Deps, request: FastifyRequest): string {
  return screenOfPath(splitUrl(request.url).path.slice(config.basePath.length)).name;
}
