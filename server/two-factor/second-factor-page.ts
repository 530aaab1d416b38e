import type { FastifyRequest } from 'fastify';
import { acceptableDestination, defaultDestination } from '#contract/destination.ts';
import type { Notice } from '#contract/notices.ts';
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
import { findHalfSession, type HalfSession } from '../storage/half-session.ts';
import { countRecoveryCodes } from '../storage/recovery-code.ts';
import { openRegistration } from './registration.ts';
import { waitBeforeSend } from './send-email-code.ts';

/**
 * What a second-factor screen shows (decisions §13), or where it leads instead: with nothing pending to the sign-in
 * form, which says so where something had been, signed in to the destination, and always to the screen that this half
 * session waits on, whatever the address says of it. While the database is away the screen shows as it is.
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
    if (token && address && session?.stage === 'full') return await signedInPage(deps, request, token, address);
    return toSignIn(deps, request, half ? 'tooManyAttempts' : token ? 'signInExpired' : undefined);
  } catch (error) {
    if (isDatabaseAway(error)) return {};
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
  const { config } = deps;
  const { factor, mustRegister } = half;
  const right = screenUrl(config.basePath, mustRegister ? 'twoFactorRegistration' : 'twoFactor');
  const { path, search } = splitUrl(request.url);
  const query = new URLSearchParams(search);
  if (
    path.replace(/\/$/, '') !== right ||
    (query.get(queryNames.codeSentViaEmail) === 'true') !== (factor === 'email')
  ) {
    if (factor === 'email') query.set(queryNames.codeSentViaEmail, 'true');
    else query.delete(queryNames.codeSentViaEmail);
    return { redirect: query.size > 0 ? `${right}?${query}` : right };
  }
  const registration =
    mustRegister && factor === 'app' ? await openRegistration(deps, token, address).catch(() => null) : null;
  return {
    secondFactor: await openSecondFactor(deps, half, tokenHash(token)),
    ...(registration?.kind === 'open' && { registration: registration.answer }),
  };
}

async function openSecondFactor(
  deps: Deps,
  { userId, username, factor, mustRegister, customers }: HalfSession,
  hash: Buffer,
): Promise<OpenSecondFactor> {
  const wait = factor === 'email' ? await waitBeforeSend(deps, hash, deps.now()) : null;
  return {
    account: username,
    mayRemember: customers.every(({ rememberDevices }) => rememberDevices),
    mayRecover: factor === 'app' && !mustRegister && (await countRecoveryCodes(deps.sql, userId)) > 0,
    sendAgainAfter: wait === null ? 0 : wait.retryAfter === null ? null : Math.ceil(wait.retryAfter / 1000),
  };
}

/** A browser that still holds the cookie of a sign-in is told that it is over; sign-out takes the cookie back. */
function toSignIn({ config }: Deps, request: FastifyRequest, notice: Notice | undefined): { redirect: string } {
  const query = {
    [queryNames.notice]: notice,
    [queryNames.destination]: askedFor(request),
    [queryNames.language]: languageOverride(request),
  };
  return { redirect: screenUrl(config.basePath, 'login', query) };
}

/** Nothing is pending: who signed in may set up an app of his own will. */
async function signedInPage(
  deps: Deps,
  request: FastifyRequest,
  token: string,
  address: string,
): Promise<Partial<Page> | { redirect: string }> {
  const { config } = deps;
  const registration =
    screenName(deps, request) === 'twoFactorRegistration' ? await openRegistration(deps, token, address) : null;
  if (registration?.kind === 'open') return { registration: registration.answer };
  const asked = askedFor(request);
  return {
    redirect: (asked && acceptableDestination(asked, config.destinationRules)) || defaultDestination(config.basePath),
  };
}

function askedFor(request: FastifyRequest): string | undefined {
  return queryValue(request, queryNames.redirectUrl) ?? undefined;
}

function screenName({ config }: Deps, request: FastifyRequest): string {
  return screenOfPath(splitUrl(request.url).path.slice(config.basePath.length)).name;
}
