import type { FastifyReply, FastifyRequest } from 'fastify';
import { invitedParameter } from '#contract/invited.ts';
import { ChangeForm } from '#contract/payloads.ts';
import { type ChangeFailedReason, changeFailedReasons } from '#contract/reasons.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import type { Deps } from '../deps/deps.ts';
import { clearCookie, setCookie } from '../http/cookies.ts';
import { destinationOfAddress } from '../http/destination-of-address.ts';
import { formAgain, formKeeper } from '../http/form-again.ts';
import { clearLastRefusal, setLastRefusal } from '../http/last-refusal.ts';
import { giveUpOpenedLinks, noteOpenedLink } from '../http/opened-links.ts';
import { refuse } from '../http/refuse.ts';
import { languageOverride, wantsPage } from '../http/request-url.ts';
import { limits } from '../limits.ts';
import { isToken } from '../secrets/token.ts';
import { carriesSession, leaveSession, wasSignedIn } from '../sign-out/end-session.ts';
import { markHashes } from '../visitor/mark-hashes.ts';
import { knownVisitorOf } from '../visitor/visitor.ts';
import { changePassword } from './change-password.ts';
import { destinationOfForm } from './destination-of-form.ts';

/** After these the link is still valid, and a better entry helps. */
const isLinkStillGood = (reason: ChangeFailedReason) =>
  reason !== changeFailedReasons.requestExpired && reason !== changeFailedReasons.userNotFound;

/** After these it is also certain that there is such a link. */
const isLinkKnownAndGood = (reason: ChangeFailedReason) =>
  isLinkStillGood(reason) && reason !== changeFailedReasons.changeFailed;

export const changeSchema = { body: ChangeForm };

/** `POST password/change` (decisions §6): 303 to the outcome. */
export function changeRoute(deps: Deps) {
  const { config } = deps;

  return async function change(request: FastifyRequest<{ Body: ChangeForm }>, reply: FastifyReply) {
    const visitor = await knownVisitorOf(deps, request, reply);
    if (!visitor) return reply;
    const { address, language, brand, sessionToken, turns, requestId } = visitor;
    const { hash: token = '', password, repeat } = request.body;
    const own = { sessionToken, markHashes: markHashes(turns) };
    const change = { token, password, repeat, address, language, brand, ...own, requestId };
    const destination = await destinationOfForm(deps, request, visitor);
    const result = await changePassword(deps, change);
    const isInvited = 'purpose' in result && result.purpose === 'invitation';
    const kept = {
      [queryNames.destination]: destination,
      [invitedParameter]: isInvited ? 'true' : undefined,
      lang: languageOverride(request),
    };
    switch (result.kind) {
      case 'changed':
        clearCookie(reply, config, 'reset');
        giveUpOpenedLinks(request);
        clearLastRefusal(request, reply, config);
        // The person who changed it signs in next, and must get nothing of somebody who was signed in here.
        if (carriesSession(deps, request)) leaveSession(deps, request, reply, wasSignedIn(deps, request, result.ended));
        return reply.redirect(screenUrl(config.basePath, 'forgottenChangedInfo', kept), 303);
      case 'networkRefused': {
        const query = { [queryNames.ipAddress]: address, ...kept };
        return toRefusal(reply, screenUrl(config.basePath, { name: 'loginFail', type: 'ip' }, query), result.reference);
      }
      case 'throttled': {
        const { retryAfter, reference } = result;
        if (!wantsPage(request)) return await refuse(deps, request, reply, 429, { retryAfter });
        const again = {
          screen: 'forgottenChange',
          status: 429,
          notice: 'tooManyAttempts',
          retryAfter,
          reference,
          destination,
        } as const;
        return await formAgain(deps, request, reply, again, keptOf(request.body));
      }
      case 'refused':
        if (isToken(token) && isLinkKnownAndGood(result.reason)) noteOpenedLink(request, reply, config, token);
        return refused(reply, result, token, kept);
    }
  };

  /** A cookie keeps the hash, so that the way back to the form works without JavaScript too. */
  function refused(
    reply: FastifyReply,
    { reason, reference }: { reason: ChangeFailedReason; reference: string },
    token: string,
    kept: Record<string, string | undefined>,
  ) {
    if (isToken(token) && isLinkStillGood(reason)) setCookie(reply, config, 'reset', token, limits.resetCookieLifetime);
    else clearCookie(reply, config, 'reset');
    const screen = reason === changeFailedReasons.tooWeak ? 'forgottenChange' : 'forgottenChangeFailedInfo';
    return toRefusal(
      reply,
      screenUrl(config.basePath, screen, { [queryNames.reason]: String(reason), ...kept }),
      reference,
    );
  }

  function toRefusal(reply: FastifyReply, url: string, reference: string) {
    setLastRefusal(reply, config, { reference, username: '', url });
    return reply.redirect(url, 303);
  }
}

export function changeFormAgain(deps: Deps) {
  return formKeeper(deps, 'forgottenChange', (form, request) => ({
    destination: destinationOfAddress(request, deps.config),
    page: keptOf(form),
  }));
}

function keptOf({ hash = '' }: Pick<Partial<ChangeForm>, 'hash'>) {
  return { resetHash: hash, typedUsername: '' };
}
