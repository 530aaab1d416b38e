import type { FastifyReply, FastifyRequest } from 'fastify';
import { callUrl } from '#contract/calls.ts';
import { codeOfText, recoveryCodeOfText } from '#contract/codes.ts';
import { destinationInLanguage } from '#contract/destination.ts';
import type { Notice } from '#contract/notices.ts';
import { codeAnswerHeaders, type PasskeyForm, VerifyForm } from '#contract/payloads.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import type { Deps } from '../deps.ts';
import { setCookie } from '../http/cookies.ts';
import { formKeeper } from '../http/form-again.ts';
import { forgetNextPage, tellNextPage } from '../http/next-page.ts';
import { refuse, sendProblem } from '../http/refuse.ts';
import { languageOverride, queryValue } from '../http/request-url.ts';
import { limits } from '../limits.ts';
import type { OpenFactor } from '../people/sign-in-policy.ts';
import { destinationFor } from '../sessions/destination.ts';
import { endVisits, rememberConnection } from '../sessions/visit.ts';
import { visitorOf } from '../sessions/visitor.ts';
import type { VerifyRequest } from './code-attempts.ts';
import { secondFactorUrl } from './second-factor-page.ts';
import { type VerifyResult, verify } from './verify.ts';

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
type CodeRequest = FastifyRequest<{ Body: string | VerifyForm | undefined }>;
type PasskeyRequest = FastifyRequest<{ Body: PasskeyForm }>;

const ownApp = { factor: 'app', mustRegister: true } as const;

/** Whether the password is required next, since no more codes are checked. */
function isOver(result: VerifyResult): result is Extract<VerifyResult, { kind: 'wrong' | 'tooManyTries' }> {
  return result.kind === 'tooManyTries' || (result.kind === 'wrong' && result.isLast);
}

/**
 * `POST two-factor-authentication/verify`: a JSON string from a script, a form without JavaScript; and
 * `POST passkeys/second-factor`: the answer of a passkey in place of a code, by a form.
 */
export function verifyRoutes(deps: Deps) {
  const { config } = deps;
  return { verifyCode, verifyPasskey };

  async function verifyCode(request: CodeRequest, reply: FastifyReply) {
    const { body } = request;
    if (body === undefined) return await refuse(deps, reply, 400, { detail: 'The code is missing.' });
    const form = typeof body === 'string' ? null : body;
    const text = typeof body === 'string' ? body : body.code;
    const code = codeOfText(text) ?? recoveryCodeOfText(text);
    if (code === null) {
      if (form) return backToForm(reply, form, await openFactor(request), 'codeMalformed');
      return await refuse(deps, reply, 400, { detail: 'The code must be six digits.' });
    }
    // The form has a checkbox; a script, whose body is the code alone, says it in the address.
    const remember = form ? form.remember === 'on' : queryValue(request, queryNames.remember) === 'true';
    const result = await take(reply, { by: 'code', given: code, remember, isForm: form !== null });
    if (form) return answerForm(reply, form, result, await openFactor(request), 'codeWrong');
    return await answerScript(reply, result);
  }

  async function verifyPasskey(request: PasskeyRequest, reply: FastifyReply) {
    if (!config.passkeys) return sendProblem(reply, 404);
    const { credential, redirectURL = '' } = request.body;
    const result = await take(reply, { by: 'passkey', given: credential, remember: false, isForm: true });
    return answerForm(reply, { redirectURL }, result, await openFactor(request), 'passkeyRefused');
  }

  /** What the form shows that a code was posted by: of a half session, or the app that somebody signed in sets up. */
  async function openFactor(request: FastifyRequest): Promise<OpenFactor> {
    const who = await visitorOf(deps, request).who();
    return who.kind === 'half' ? who.half : ownApp;
  }

  async function take(
    reply: FastifyReply,
    given: Pick<VerifyRequest, 'by' | 'given' | 'remember' | 'isForm'>,
  ): Promise<VerifyResult> {
    const visitor = visitorOf(deps, reply.request);
    const { sessionToken, address } = visitor;
    if (!sessionToken) return { kind: 'signInExpired' };
    const result = await verify(deps, { ...visitor, sessionToken, address, ...given }, await visitor.who());
    if (isOver(result)) tellNextPage(reply, config, { username: result.username });
    if (result.kind !== 'right' && result.kind !== 'thenApp') return result;
    setCookie(reply, config, 'session', result.sessionToken);
    if (result.kind === 'thenApp') return result;
    const { deviceToken, rememberedToken, connectionId } = result;
    if (deviceToken) setCookie(reply, config, 'device', deviceToken, limits.deviceLifetime);
    if (rememberedToken) setCookie(reply, config, 'remembered', rememberedToken, limits.rememberedDevice);
    if (connectionId) rememberConnection(deps, reply, connectionId);
    forgetNextPage(reply, config);
    await endVisits(deps, reply.request);
    return result;
  }

  async function answerScript(reply: FastifyReply, result: VerifyResult) {
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
      case 'mayNotRegister':
        if (result.why === 'signInAgain') reply.header(codeAnswerHeaders.notice, 'signInTooOld');
        return sendProblem(reply, 409, { detail: 'This sign-in may not set up an app.' });
      case 'tooManyTries':
        return sendProblem(reply, 401, { notice: 'tooManyCodes' });
      case 'throttled':
        return await refuse(deps, reply, 429, { retryAfter: result.retryAfter });
    }
  }

  function answerForm(
    reply: FastifyReply,
    form: Partial<VerifyForm>,
    result: VerifyResult,
    open: OpenFactor,
    wrong: Notice,
  ): FastifyReply {
    const lang = languageOverride(reply.request);
    const { redirectURL = '' } = form;
    const toLogin = (notice: Notice) => {
      const query = { [queryNames.notice]: notice, [queryNames.destination]: redirectURL || undefined, lang };
      return reply.redirect(screenUrl(config.basePath, 'login', query), 303);
    };
    switch (result.kind) {
      case 'right': {
        const destination = destinationFor(config, redirectURL);
        if (!result.hasPage) return reply.redirect(destinationInLanguage(destination, config.basePath, lang), 303);
        const query = new URLSearchParams({ [queryNames.redirectUrl]: destination, ...(lang && { lang }) });
        return reply.redirect(`${callUrl(config.basePath, 'twoFactorRecoveryCodes')}?${query}`, 303);
      }
      case 'wrong':
        return isOver(result) ? toLogin('tooManyCodes') : backToForm(reply, form, open, wrong);
      case 'tooManyTries':
        return toLogin('tooManyCodes');
      case 'signInExpired':
        return toLogin('signInExpired');
      case 'thenApp':
      case 'mayNotRegister':
        // The page says why not.
        return backToForm(reply, { redirectURL }, ownApp);
      case 'throttled':
        return backToForm(reply, form, open, 'tooManyAttempts');
    }
  }

  function backToForm(reply: FastifyReply, form: Partial<VerifyForm>, open: OpenFactor, notice?: Notice): FastifyReply {
    const { redirectURL, codeSentViaEmail: _, ...kept } = keptOf(form);
    const query = {
      ...kept,
      [queryNames.notice]: notice,
      destination: redirectURL,
      lang: languageOverride(reply.request),
    };
    return reply.redirect(secondFactorUrl(config.basePath, open, query), 303);
  }
}

function keptOf({ redirectURL, codeSentViaEmail, recovery, remember }: Partial<VerifyForm>) {
  return {
    [queryNames.redirectUrl]: redirectURL || undefined,
    [queryNames.codeSentViaEmail]: codeSentViaEmail || undefined,
    [queryNames.recovery]: recovery || undefined,
    [queryNames.remember]: remember === 'on' ? 'true' : undefined,
  };
}

/** How a code's form, or the button for another code, gets back while the database is down; without the code. */
export function twoFactorFormAgain(deps: Deps) {
  return formKeeper(deps, 'twoFactor', (form) => ({ query: keptOf(form), page: {} }));
}
