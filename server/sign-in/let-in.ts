import type { FastifyReply, FastifyRequest } from 'fastify';
import { isDefaultDestination } from '#contract/destination.ts';
import { destinationInLanguage } from '#contract/destination-in-language.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import type { Deps } from '../deps.ts';
import { secondFactorUrl } from '../factors/second-factor-url.ts';
import { setCookie } from '../http/cookies.ts';
import { clearLastRefusal, setLastRefusal } from '../http/last-refusal.ts';
import { limits } from '../limits.ts';
import { endVisits } from '../sessions/visit-cookie.ts';
import type { SignInResult } from './sign-in-result.ts';

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
