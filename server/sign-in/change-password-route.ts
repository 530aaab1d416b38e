import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Page } from '#contract/page.ts';
import type { ChangeForm } from '#contract/payloads.ts';
import { type ChangeFailedReason, changeFailedReasons } from '#contract/reasons.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import { isToken } from '../crypto/token.ts';
import type { Deps } from '../deps.ts';
import { clearCookie, setCookie } from '../http/cookies.ts';
import { formAgain, formKeeper } from '../http/form-again.ts';
import { tellNextPage } from '../http/next-page.ts';
import { refuse } from '../http/refuse.ts';
import { destinationOfAddress, languageOverride, wantsPage } from '../http/request-url.ts';
import { limits } from '../limits.ts';
import { destinationFor, leadsToRegistration } from '../sessions/destination.ts';
import { signOutHere } from '../sessions/end-sessions.ts';
import { visitorOf } from '../sessions/visitor.ts';
import { letIn } from './answer-sign-in.ts';
import { changePassword } from './change-password.ts';
import type { LinkResult } from './read-link.ts';
import { signIn } from './sign-in.ts';

/** `POST password/change`: 303 to the outcome. An invited person is signed in at once. */
export function changePasswordRoute(deps: Deps) {
  const { config } = deps;

  return async function change(request: FastifyRequest<{ Body: ChangeForm }>, reply: FastifyReply) {
    const visitor = visitorOf(deps, request);
    const { hash: token = '', password, repeat } = request.body;
    const result = await changePassword(deps, { ...visitor, token, password, repeat });
    const isInvitation = 'purpose' in result && result.purpose === 'invitation';
    const shown = { token, isInvitation, address: visitor.address };
    if (result.kind !== 'changed' || !isInvitation) return await answer(reply, result, shown);

    // The first sign-in of an invited person, with the password that they have just chosen, and all that it asks for.
    const { username } = result;
    const destination = destinationFor(config, destinationOfAddress(request, config));
    const setsUpApp = leadsToRegistration(config, destination);
    const signedIn = await signIn(deps, { ...visitor, username, password, setsUpApp });
    if (signedIn.kind !== 'signedIn' && signedIn.kind !== 'secondFactor') return await answer(reply, result, shown);
    clearCookie(reply, config, 'reset');
    return await letIn(deps, reply, signedIn, { destination, lang: languageOverride(request), username });
  };

  /** 303 to the outcome, or the form with a wait. `isInvitation`: in the words of one. */
  async function answer(
    reply: FastifyReply,
    result: LinkResult,
    { token, isInvitation, address }: { token: string; isInvitation: boolean; address: string },
  ): Promise<FastifyReply> {
    const { request } = reply;
    const destination = destinationOfAddress(request, config);
    const words = { [queryNames.invited]: isInvitation ? 'true' : undefined };
    const kept = { [queryNames.destination]: destination, ...words, lang: languageOverride(request) };
    const toRefusal = (url: string, reference: string) => {
      tellNextPage(reply, config, { username: '', refusal: { reference, url } });
      return reply.redirect(url, 303);
    };
    switch (result.kind) {
      case 'changed':
        // The person signs in next, and must not go on in the session of somebody else who was signed in here.
        if (visitorOf(deps, request).sessionToken === null) clearCookie(reply, config, 'reset');
        else await signOutHere(deps, reply);
        tellNextPage(reply, config, { username: result.username });
        return reply.redirect(screenUrl(config.basePath, 'forgottenChangedInfo', kept), 303);
      case 'networkRefused': {
        const query = { [queryNames.ipAddress]: address, ...kept };
        return toRefusal(screenUrl(config.basePath, { name: 'loginFail', type: 'ip' }, query), result.reference);
      }
      case 'throttled': {
        const { retryAfter, reference } = result;
        if (!wantsPage(request)) return await refuse(deps, reply, 429, { retryAfter });
        const again = { screen: 'forgottenChange', status: 429, notice: 'tooManyAttempts' } as const;
        const form = { ...again, retryAfter, reference, destination, query: words };
        const page = linkPage(token, isInvitation);
        return await formAgain(deps, reply, form, page);
      }
      case 'refused': {
        const { reason, reference } = result;
        // A cookie keeps the hash, so that the way back to the form works without JavaScript too.
        if (isToken(token) && isLinkStillGood(reason))
          setCookie(reply, config, 'reset', token, limits.resetCookieLifetime);
        else clearCookie(reply, config, 'reset');
        const screen = reason === changeFailedReasons.tooWeak ? 'forgottenChange' : 'forgottenChangeFailedInfo';
        const query = { [queryNames.reason]: String(reason), ...kept };
        return toRefusal(screenUrl(config.basePath, screen, query), reference);
      }
    }
  }
}

/** The form of a link, again; never with a name that was typed elsewhere. */
function linkPage(resetHash: string, isInvitation: boolean): Partial<Page> {
  const words = isInvitation && { invitation: true as const };
  return { screen: { name: 'forgottenChange', resetHash, ...words }, typedUsername: '' };
}

/** Whether a better entry helps: the form is offered again. */
function isLinkStillGood(reason: ChangeFailedReason): boolean {
  return reason !== changeFailedReasons.requestExpired && reason !== changeFailedReasons.userNotFound;
}

/** Shows the form of a link again after a fault. */
export function linkFormAgain(deps: Deps) {
  return formKeeper(deps, 'forgottenChange', ({ hash = '' }: Partial<ChangeForm>, request) => ({
    destination: destinationOfAddress(request, deps.config),
    page: linkPage(hash, false),
  }));
}
