import type { FastifyReply, FastifyRequest } from 'fastify';
import { isDefaultDestination } from '#contract/destination.ts';
import { destinationInLanguage } from '#contract/destination-in-language.ts';
import type { Notice } from '#contract/notices.ts';
import type { LoginFailType } from '#contract/reasons.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import type { Config } from '../config/config.ts';
import type { Deps } from '../deps.ts';
import { secondFactorUrl } from '../factors/second-factor-page.ts';
import { setCookie } from '../http/cookies.ts';
import { clearLastRefusal, setLastRefusal } from '../http/last-refusal.ts';
import { limits } from '../limits.ts';
import { destinationToKeep } from '../sessions/destination.ts';
import { endVisits } from '../sessions/visit.ts';
import type { SignInResult } from './sign-in-rules.ts';

/**
 * Answers a sign-in that succeeded or awaits its second factor: sets the cookies, ends the browser's visits to providers, and
 * redirects. `byProvider`: the visit that signed in has ended the others. `isFirst`: the browser has not shown any cookie
 * yet, so the way leads through the form, which leads on if the browser has kept those, and else says that it has not
 * (pages/screen-route.ts).
 */
export async function letIn(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  result: Extract<SignInResult, { kind: 'signedIn' | 'secondFactor' }>,
  {
    destination,
    lang,
    username,
    byProvider = false,
    isFirst = false,
  }: {
    destination: string;
    lang: string | undefined;
    username: string | null;
    byProvider?: boolean;
    isFirst?: boolean;
  },
): Promise<FastifyReply> {
  const { config } = deps;
  if (!byProvider) await endVisits(deps, request);
  setCookie(reply, config, 'session', result.sessionToken);
  // The cookie of refusals also keeps the typed name: however the half session ends, the next form has it.
  if (result.kind === 'secondFactor' && username !== null) setLastRefusal(reply, config, { reference: null, username });
  else clearLastRefusal(request, reply, config);
  if (result.kind === 'secondFactor')
    return reply.redirect(onwards(secondFactorUrl(config.basePath, result, { destination, lang })), 303);
  setCookie(reply, config, 'device', result.deviceToken, limits.deviceLifetime);
  return reply.redirect(onwards(destinationInLanguage(destination, config.basePath, lang)), 303);

  function onwards(url: string): string {
    if (!isFirst) return url;
    const asked = isDefaultDestination(destination, config.basePath) ? undefined : destination;
    const query = { [queryNames.notice]: 'cookiesNeeded', [queryNames.destination]: asked, lang };
    return screenUrl(config.basePath, 'login', query);
  }
}

/**
 * Answers a refused sign-in: the page of its type, which keeps reference, typed name and destination. `first` is one of
 * our addresses, which redirects there.
 */
export function turnAway(
  reply: FastifyReply,
  config: Config,
  {
    type,
    reference,
    username,
    notice,
    unknownPasskey = null,
  }: {
    type: LoginFailType;
    reference: string;
    username: string;
    notice?: Notice;
    /** The id of a passkey that nobody has: the page tells what keeps it. */
    unknownPasskey?: string | null;
  },
  {
    destination,
    lang,
    address,
    first,
  }: { destination: string; lang: string | undefined; address: string; first?: string | undefined },
): FastifyReply {
  const query = {
    [queryNames.ipAddress]: type === 'ip' ? address : undefined,
    [queryNames.notice]: notice,
    [queryNames.destination]: destinationToKeep(config.basePath, destination),
    lang,
  };
  const url = screenUrl(config.basePath, { name: 'loginFail', type }, query);
  setLastRefusal(reply, config, { reference, username, url, unknownPasskey });
  return reply.redirect(first ?? url, 303);
}

/** Redirects to the single sign-on form, with the typed address kept in the browser. */
export function toSingleSignOn(
  reply: FastifyReply,
  config: Config,
  { notice, username }: { notice?: Notice; username: string | null },
  { destination, lang }: { destination: string; lang: string | undefined },
): FastifyReply {
  if (username !== null) setLastRefusal(reply, config, { reference: null, username });
  const query = {
    [queryNames.notice]: notice,
    [queryNames.destination]: destinationToKeep(config.basePath, destination),
    lang,
  };
  return reply.redirect(screenUrl(config.basePath, 'singleSignOn', query), 303);
}
