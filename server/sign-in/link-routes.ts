import type { FastifyReply, FastifyRequest } from 'fastify';
import { type InvitedFor, invitedParameter, invitedValues } from '#contract/invited.ts';
import type { Page } from '#contract/page.ts';
import { ChangeForm, InvitationForm, InvitationPasskeyForm } from '#contract/payloads.ts';
import { type ChangeFailedReason, changeFailedReasons } from '#contract/reasons.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import { isToken } from '../crypto/token.ts';
import type { Deps } from '../deps.ts';
import { browserToBegin } from '../factors/passkey-ceremony.ts';
import { clearCookie, setCookie } from '../http/cookies.ts';
import { formAgain, formKeeper } from '../http/form-again.ts';
import { tellNextPage } from '../http/next-page.ts';
import { refuse, sendProblem } from '../http/refuse.ts';
import { destinationOfAddress, languageOverride, wantsPage } from '../http/request-url.ts';
import { limits } from '../limits.ts';
import { destinationFor, leadsToRegistration } from '../sessions/destination.ts';
import { signOutHere } from '../sessions/end-sessions.ts';
import { visitorOf } from '../sessions/visitor.ts';
import { addPasskeyByLink, beginPasskeyByLink } from './add-passkey-by-link.ts';
import { letIn } from './answer-sign-in.ts';
import { changePassword } from './change-password.ts';
import type { LinkResult } from './read-link.ts';
import { signIn } from './sign-in.ts';

/** The routes of the form behind a link, where people choose a password or a passkey. */
export function linkRoutes(deps: Deps) {
  const { config } = deps;
  const rp = config.passkeys;

  /** `POST password/change`: 303 to the outcome. An invited person is signed in at once. */
  async function change(request: FastifyRequest<{ Body: ChangeForm }>, reply: FastifyReply) {
    const visitor = visitorOf(deps, request);
    const { hash: token = '', password, repeat } = request.body;
    const result = await changePassword(deps, { ...visitor, token, password, repeat });
    const isInvitation = 'purpose' in result && result.purpose === 'invitation';
    const invited = isInvitation ? 'choice' : null;
    const shown = { token, invited, address: visitor.address } as const;
    if (result.kind !== 'changed' || !isInvitation) return await answer(reply, result, shown);

    // The first sign-in of an invited person, with the password that they have just chosen, and all that it asks for.
    const { username } = result;
    const destination = destinationFor(config, destinationOfAddress(request, config));
    const setsUpApp = leadsToRegistration(config, destination);
    const signedIn = await signIn(deps, { ...visitor, username, password, setsUpApp });
    if (signedIn.kind !== 'signedIn' && signedIn.kind !== 'secondFactor') return await answer(reply, result, shown);
    clearCookie(reply, config, 'reset');
    return await letIn(deps, reply, signedIn, { destination, lang: languageOverride(request), username });
  }

  /** `POST passkeys/invitation/options`: the options for the authenticator; 204 for a link that makes no passkey. */
  async function beginPasskey(request: FastifyRequest<{ Body: InvitationForm }>, reply: FastifyReply) {
    if (!rp) return sendProblem(reply, 404);
    const visitor = visitorOf(deps, request);
    const browserToken = await browserToBegin(deps, request, reply, visitor);
    if (browserToken === null) return reply;
    const begun = await beginPasskeyByLink(deps, rp, { visitor, token: request.body.hash }, browserToken);
    if (begun.kind === 'begun') return reply.send(begun.options);
    if (begun.kind === 'closed') return reply.code(204).send();
    return await refuse(deps, request, reply, 429, { retryAfter: begun.until.getTime() - deps.now().getTime() });
  }

  /** `POST passkeys/invitation`: 303 to the outcome, as for a password. */
  async function addPasskey(request: FastifyRequest<{ Body: InvitationPasskeyForm }>, reply: FastifyReply) {
    if (!rp) return sendProblem(reply, 404);
    const visitor = visitorOf(deps, request);
    const { hash: token, credential } = request.body;
    const result = await addPasskeyByLink(deps, rp, { visitor, token }, credential);
    return await answer(reply, result, { token, invited: 'passkey', address: visitor.address });
  }

  /** 303 to the outcome, or the form with a wait. `invited`: the words of an invitation; null for a reset link. */
  async function answer(
    reply: FastifyReply,
    result: LinkResult,
    { token, invited, address }: { token: string; invited: InvitedFor | null; address: string },
  ): Promise<FastifyReply> {
    const { request } = reply;
    const destination = destinationOfAddress(request, config);
    const words = { [invitedParameter]: invited ? invitedValues[invited] : undefined };
    const kept = { [queryNames.destination]: destination, ...words, lang: languageOverride(request) };
    const toRefusal = (url: string, reference: string) => {
      tellNextPage(reply, config, { username: '', refusal: { reference, url } });
      return reply.redirect(url, 303);
    };
    switch (result.kind) {
      case 'changed':
        // The person signs in next, and must not go on in the session of somebody else who was signed in here.
        if (visitorOf(deps, request).sessionToken === null) clearCookie(reply, config, 'reset');
        else await signOutHere(deps, request, reply);
        tellNextPage(reply, config, { username: result.username });
        return reply.redirect(screenUrl(config.basePath, 'forgottenChangedInfo', kept), 303);
      case 'networkRefused': {
        const query = { [queryNames.ipAddress]: address, ...kept };
        return toRefusal(screenUrl(config.basePath, { name: 'loginFail', type: 'ip' }, query), result.reference);
      }
      case 'throttled': {
        const { retryAfter, reference } = result;
        if (!wantsPage(request)) return await refuse(deps, request, reply, 429, { retryAfter });
        const again = { screen: 'forgottenChange', status: 429, notice: 'tooManyAttempts' } as const;
        const form = { ...again, retryAfter, reference, destination, query: words };
        const page = linkPage(token, invited);
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
  }

  return {
    change: { schema: { body: ChangeForm }, handler: change },
    beginPasskey: { schema: { body: InvitationForm }, handler: beginPasskey },
    addPasskey: { schema: { body: InvitationPasskeyForm }, handler: addPasskey },
  };
}

/** The form of a link, again; never with a name that was typed elsewhere. */
function linkPage(resetHash: string, invited: InvitedFor | null): Partial<Page> {
  const screen = { name: 'forgottenChange', resetHash, ...(invited && { invitation: invited }) } as const;
  return { screen, typedUsername: '' };
}

/** Whether a better entry helps: the form is offered again. */
function isLinkStillGood(reason: ChangeFailedReason | null): boolean {
  return reason !== changeFailedReasons.requestExpired && reason !== changeFailedReasons.userNotFound;
}

/** Shows the form of a link again after a fault. `invited`: the form that makes a passkey; null for a password. */
export function linkFormAgain(deps: Deps, invited: 'passkey' | null = null) {
  return formKeeper(deps, 'forgottenChange', ({ hash = '' }: Partial<ChangeForm>, request) => ({
    destination: destinationOfAddress(request, deps.config),
    ...(invited && { query: { [invitedParameter]: invitedValues[invited] } }),
    page: linkPage(hash, invited),
  }));
}
