import type { FastifyReply } from 'fastify';
import { destinationInLanguage, isDefaultDestination } from '#contract/destination.ts';
import type { Notice } from '#contract/notices.ts';
import type { LoginFailType } from '#contract/reasons.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import type { Config } from '../config/config.ts';
import type { Deps } from '../deps.ts';
import { secondFactorUrl } from '../factors/second-factor-page.ts';
import { setCookie } from '../http/cookies.ts';
import { forgetNextPage, tellNextPage } from '../http/next-page.ts';
import { limits } from '../limits.ts';
import { destinationToKeep, type Onwards } from '../sessions/destination.ts';
import { endVisits } from '../sessions/visit.ts';
import type { SignInResult } from './sign-in-rules.ts';

/** Answers a sign-in: cookies, the end of the browser's visits (`byProvider`: they have ended), and a redirect. */
export async function letIn(
  deps: Deps,
  reply: FastifyReply,
  result: Extract<SignInResult, { kind: 'signedIn' | 'secondFactor' }>,
  { username, byProvider = false, ...onwards }: Onwards & { username: string | null; byProvider?: boolean },
): Promise<FastifyReply> {
  const { config } = deps;
  if (!byProvider) await endVisits(deps, reply.request);
  setCookie(reply, config, 'session', result.sessionToken);
  // For the next form, should the half session end.
  if (result.kind === 'secondFactor' && username !== null) tellNextPage(reply, config, { username });
  else forgetNextPage(reply, config);
  if (result.kind === 'signedIn') setCookie(reply, config, 'device', result.deviceToken, limits.deviceLifetime);
  const { destination, lang } = onwards;
  if (hasShownNoCookie(reply)) {
    const asked = isDefaultDestination(destination, config.basePath) ? undefined : destination;
    const query = { [queryNames.notice]: 'cookiesNeeded', [queryNames.destination]: asked, lang };
    return reply.redirect(screenUrl(config.basePath, 'login', query), 303);
  }
  const url =
    result.kind === 'secondFactor'
      ? secondFactorUrl(config.basePath, result, { destination, lang })
      : destinationInLanguage(destination, config.basePath, lang);
  return reply.redirect(url, 303);
}

/**
 * Whether cookies may be blocked in the browser. Then it is sent to the sign-in form, which sends it on if it has kept the
 * session's cookie, and says that cookies are blocked if not (docs/decisions/0048).
 */
function hasShownNoCookie({ request: { headers } }: FastifyReply): boolean {
  return headers.cookie === undefined && headers['sec-fetch-mode'] === 'navigate';
}

type Refused = {
  type: LoginFailType;
  reference: string;
  username: string;
  notice?: Notice;
};

/** Answers a refused sign-in with the page of its type. `first`: an address of ours that is visited before that page. */
export function refuseSignIn(
  reply: FastifyReply,
  config: Config,
  { type, reference, username, notice }: Refused,
  { destination, lang, first }: Onwards & { first?: string | undefined },
): FastifyReply {
  const query = {
    [queryNames.ipAddress]: type === 'ip' ? reply.request.address : undefined,
    [queryNames.notice]: notice,
    [queryNames.destination]: destinationToKeep(config.basePath, destination),
    lang,
  };
  const url = screenUrl(config.basePath, { name: 'loginFail', type }, query);
  tellNextPage(reply, config, { username, refusal: { reference, url } });
  return reply.redirect(first ?? url, 303);
}

/** Redirects to the single sign-on form, with the typed address kept in the browser. */
export function toSingleSignOn(
  reply: FastifyReply,
  config: Config,
  { notice, username }: { notice?: Notice; username: string | null },
  { destination, lang }: Onwards,
): FastifyReply {
  if (username !== null) tellNextPage(reply, config, { username });
  const query = {
    [queryNames.notice]: notice,
    [queryNames.destination]: destinationToKeep(config.basePath, destination),
    lang,
  };
  return reply.redirect(screenUrl(config.basePath, 'singleSignOn', query), 303);
}
