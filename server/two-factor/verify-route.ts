import type { FastifyReply, FastifyRequest } from 'fastify';
import { callUrl } from '#contract/calls.ts';
import { destinationInLanguage } from '#contract/destination-in-language.ts';
import { codeAnswerHeaders } from '#contract/headers.ts';
import type { Notice } from '#contract/notices.ts';
import { codeOfPaste, isOneTimeCode } from '#contract/one-time-code.ts';
import { type PasskeyForm, VerifyForm } from '#contract/payloads.ts';
import { recoveryCodeOfText } from '#contract/recovery-code.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import type { Deps } from '../deps/deps.ts';
import { setCookie } from '../http/cookies.ts';
import { formKeeper } from '../http/form-again.ts';
import { clearLastRefusal, setLastRefusal } from '../http/last-refusal.ts';
import { refuse, sendProblem } from '../http/refuse.ts';
import { languageOverride, queryValue } from '../http/request-url.ts';
import { endVisits } from '../http/visit-cookie.ts';
import { limits } from '../limits.ts';
import { destinationFor } from '../visitor/destination.ts';
import { rememberConnection } from '../visitor/remembered-connection.ts';
import { visitorOf } from '../visitor/visitor.ts';
import { secondFactorUrl } from './second-factor-url.ts';
import { verifyCode } from './verify-code.ts';
import type { VerifyResult } from './verify-result.ts';

/** A script sends only the code, a form sends it as a field. */
export const verifySchema = {
  body: {
    content: {
      'application/json': { schema: { type: 'string' } },
      'application/x-www-form-urlencoded': { schema: VerifyForm },
    },
  },
};

/** Undefined without a content type: then nothing is read or validated. */
type VerifyRequest = FastifyRequest<{ Body: string | VerifyForm | undefined }>;
type PasskeyRequest = FastifyRequest<{ Body: PasskeyForm }>;

/** Where an app is set up, voluntarily or next. */
const ownApp = { factor: 'app', mustRegister: true } as const;

/** Whether the password is required next, since no more codes are checked. */
function isOver(result: VerifyResult): result is Extract<VerifyResult, { kind: 'wrong' | 'tooManyTries' }> {
  return result.kind === 'tooManyTries' || (result.kind === 'wrong' && result.isLast);
}

/**
 * `POST two-factor-authentication/verify` (decisions §6): a JSON string from a script, a form without JavaScript; and
 * `POST passkeys/second-factor`: the answer of a passkey in place of a code, by a form.
 */
export function verifyRoutes(deps: Deps) {
  const { config } = deps;
  return { verify, verifyPasskey };

  async function verify(request: VerifyRequest, reply: FastifyReply) {
    const { body } = request;
    if (body === undefined) return await refuse(deps, request, reply, 400, { detail: 'The code is missing.' });
    const form = typeof body === 'string' ? null : body;
    const code = typeof body === 'string' ? body : (codeOfPaste(body.code) ?? body.code);
    if (!isOneTimeCode(code) && recoveryCodeOfText(code) === null) {
      if (form) return backToForm(request, reply, form, { notice: 'codeMalformed' });
      return await refuse(deps, request, reply, 400, { detail: 'The code must be six digits.' });
    }
    // The form has a checkbox; a script, whose body is the code alone, says it in the address.
    const remember = form ? form.remember === 'on' : queryValue(request, queryNames.remember) === 'true';
    const result = await take(request, reply, { by: 'code', given: code, remember, isForm: form !== null });
    return form ? answerForm(request, reply, form, result, 'codeWrong') : await answerScript(request, reply, result);
  }

  async function verifyPasskey(request: PasskeyRequest, reply: FastifyReply) {
    if (!config.passkeys) return sendProblem(reply, 404);
    const { credential, redirectURL } = request.body;
    const result = await take(request, reply, { by: 'passkey', given: credential, remember: false, isForm: true });
    return answerForm(request, reply, { redirectURL: redirectURL ?? '' }, result, 'passkeyRefused');
  }

  async function take(
    request: VerifyRequest | PasskeyRequest,
    reply: FastifyReply,
    given: { by: 'code' | 'passkey'; given: string; remember: boolean; isForm: boolean },
  ): Promise<VerifyResult> {
    const visitor = visitorOf(deps, request);
    const { sessionToken, address } = visitor;
    const who = await visitor.who();
    if (!sessionToken || !address) return { kind: 'signInExpired' };
    const result = await verifyCode(deps, { ...visitor, sessionToken, address, ...given }, who);
    if (isOver(result)) setLastRefusal(reply, config, { reference: null, username: result.username });
    if (result.kind !== 'right' && result.kind !== 'thenApp') return result;
    setCookie(reply, config, 'session', result.sessionToken);
    if (result.kind === 'thenApp') return result;
    const { deviceToken, rememberedToken, connectionId } = result;
    if (deviceToken) setCookie(reply, config, 'device', deviceToken, limits.deviceLifetime);
    if (rememberedToken) setCookie(reply, config, 'remembered', rememberedToken, limits.rememberedDevice);
    if (connectionId) rememberConnection(deps, reply, connectionId);
    clearLastRefusal(request, reply, config);
    await endVisits(deps, request);
    return result;
  }

  async function answerScript(
    request: FastifyRequest,
    reply: FastifyReply,
    result: VerifyResult,
  ): Promise<FastifyReply> {
    reply.type('application/json');
    switch (result.kind) {
      case 'right':
        if (result.hasPage) reply.header(codeAnswerHeaders.next, 'recoveryCodes');
        return reply.send('true');
      case 'thenApp':
        return reply.header(codeAnswerHeaders.next, 'registration').send('true');
      case 'wrong':
        if (isOver(result)) reply.header(codeAnswerHeaders.notice, 'tooManyCodes' satisfies Notice);
        return reply.send('false');
      case 'signInExpired':
        return sendProblem(reply, 401, { notice: 'signInExpired' });
      case 'signInTooOld':
        reply.header(codeAnswerHeaders.notice, 'signInTooOld');
        return sendProblem(reply, 409, { detail: 'The sign-in is too old to set up an app.' });
      case 'tooManyTries':
        return sendProblem(reply, 401, { notice: 'tooManyCodes' });
      case 'throttled':
        return await refuse(deps, request, reply, 429, { retryAfter: result.retryAfter });
    }
  }

  /** Redirects to the second-factor screen, which itself knows whether it is the one that registers. */
  function backToForm(
    request: FastifyRequest,
    reply: FastifyReply,
    form: Partial<VerifyForm>,
    more: { notice: Notice; [name: string]: string },
  ): FastifyReply {
    const query = { ...twoFactorQuery(form), ...more, [queryNames.language]: languageOverride(request) };
    return reply.redirect(screenUrl(config.basePath, 'twoFactor', query), 303);
  }

  function answerForm(
    request: FastifyRequest,
    reply: FastifyReply,
    form: Partial<VerifyForm>,
    result: VerifyResult,
    wrong: Notice,
  ): FastifyReply {
    const lang = languageOverride(request);
    const { redirectURL = '' } = form;
    const destination = destinationFor(config, redirectURL);
    const toLogin = (notice: Notice) =>
      reply.redirect(
        screenUrl(config.basePath, 'login', {
          [queryNames.notice]: notice,
          [queryNames.destination]: redirectURL || undefined,
          lang,
        }),
        303,
      );
    switch (result.kind) {
      case 'right': {
        if (!result.hasPage) return reply.redirect(destinationInLanguage(destination, config.basePath, lang), 303);
        const query = new URLSearchParams({ [queryNames.redirectUrl]: destination, ...(lang && { lang }) });
        return reply.redirect(`${callUrl(config.basePath, 'twoFactorRecoveryCodes')}?${query}`, 303);
      }
      case 'wrong':
        if (isOver(result)) return toLogin('tooManyCodes');
        return backToForm(request, reply, form, { notice: wrong });
      case 'signInExpired':
        return toLogin('signInExpired');
      case 'thenApp':
      case 'signInTooOld':
        return reply.redirect(
          secondFactorUrl(config.basePath, ownApp, { destination: redirectURL || undefined, lang }),
          303,
        );
      case 'tooManyTries':
        return toLogin('tooManyCodes');
      case 'throttled':
        return backToForm(request, reply, form, { notice: 'tooManyAttempts' });
    }
  }
}

/** What the address of the form keeps of it. */
function twoFactorQuery({ redirectURL, codeSentViaEmail, recovery, remember }: Partial<VerifyForm>) {
  return {
    [queryNames.redirectUrl]: redirectURL || undefined,
    [queryNames.codeSentViaEmail]: codeSentViaEmail || undefined,
    [queryNames.recovery]: recovery || undefined,
    [queryNames.remember]: remember === 'on' ? 'true' : undefined,
  };
}

/** How a code's form, or the button for another code, gets back while the database is down; without the code. */
export function twoFactorFormAgain(deps: Deps) {
  return formKeeper(deps, 'twoFactor', (form) => ({
    query: twoFactorQuery(form),
    page: {},
  }));
}
