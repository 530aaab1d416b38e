import type { FastifyReply, FastifyRequest } from 'fastify';
import { type InvitedFor, invitedParameter, invitedValues } from '#contract/invited.ts';
import { type ChangeFailedReason, changeFailedReasons } from '#contract/reasons.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import type { Deps } from '../deps/deps.ts';
import { clearCookie, setCookie } from '../http/cookies.ts';
import { formAgain } from '../http/form-again.ts';
import { clearLastRefusal, setLastRefusal } from '../http/last-refusal.ts';
import { refuse } from '../http/refuse.ts';
import { languageOverride, wantsPage } from '../http/request-url.ts';
import { limits } from '../limits.ts';
import { isToken } from '../secrets/token.ts';
import { signOutHere } from '../sign-out/sign-out-here.ts';
import { visitorOf } from '../visitor/visitor.ts';

/** What came of the form of a link; visitors read out `reference` to the operator, `retryAfter` is in milliseconds. */
export type LinkFormResult =
  | { kind: 'changed' }
  /** `reason` is null if the authenticator's answer was refused: the link is known, and still good. */
  | { kind: 'refused'; reason: ChangeFailedReason | null; reference: string }
  | { kind: 'networkRefused'; reference: string }
  | { kind: 'throttled'; retryAfter: number; reference: string };

/** After these the link is still valid, and a better entry helps. */
const isLinkStillGood = (reason: ChangeFailedReason | null) =>
  reason !== changeFailedReasons.requestExpired && reason !== changeFailedReasons.userNotFound;

type Form = {
  token: string;
  address: string;
  destination: string | undefined;
  /** In whose words the outcome is; null for a reset link. */
  invited: InvitedFor | null;
};

/** Answers the form of a link, by which somebody chooses how they sign in: 303 to the outcome, or the form with a wait. */
export async function answerLinkForm(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  result: LinkFormResult,
  { token, address, destination, invited }: Form,
): Promise<FastifyReply> {
  const { config } = deps;
  const kept = {
    [queryNames.destination]: destination,
    [invitedParameter]: invited ? invitedValues[invited] : undefined,
    lang: languageOverride(request),
  };
  switch (result.kind) {
    case 'changed':
      // The person who changed it signs in next, and must get nothing of somebody who was signed in here.
      if (visitorOf(deps, request).sessionToken === null) clearCookie(reply, config, 'reset');
      else await signOutHere(deps, request, reply);
      clearLastRefusal(request, reply, config);
      return reply.redirect(screenUrl(config.basePath, 'forgottenChangedInfo', kept), 303);
    case 'networkRefused': {
      const query = { [queryNames.ipAddress]: address, ...kept };
      return toRefusal(screenUrl(config.basePath, { name: 'loginFail', type: 'ip' }, query), result.reference);
    }
    case 'throttled': {
      const { retryAfter, reference } = result;
      if (!wantsPage(request)) return await refuse(deps, request, reply, 429, { retryAfter });
      const again = { screen: 'forgottenChange', status: 429, notice: 'tooManyAttempts' } as const;
      const query = { [invitedParameter]: kept[invitedParameter] };
      const form = { ...again, retryAfter, reference, destination, query };
      const page = { resetHash: token, typedUsername: '', ...(invited && { invitation: invited }) };
      return await formAgain(deps, request, reply, form, page);
    }
    case 'refused': {
      const { reason, reference } = result;
      // A cookie keeps the hash, so that the way back to the form works without JavaScript too.
      if (isToken(token) && isLinkStillGood(reason))
        setCookie(reply, config, 'reset', token, limits.resetCookieLifetime);
      else clearCookie(reply, config, 'reset');
      const screen = reason === changeFailedReasons.tooWeak ? 'forgottenChange' : 'forgottenChangeFailedInfo';
      const query = { [queryNames.reason]: reason === null ? undefined : String(reason), ...kept };
      return toRefusal(screenUrl(config.basePath, screen, query), reference);
    }
  }

  function toRefusal(url: string, reference: string) {
    setLastRefusal(reply, config, { reference, username: '', url });
    return reply.redirect(url, 303);
  }
}
