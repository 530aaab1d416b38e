import type { FastifyReply, FastifyRequest } from 'fastify';
import { LoginForm } from '#contract/payloads.ts';
import type { Deps } from '../deps.ts';
import { type FormKeeper, formAgain } from '../http/form-again.ts';
import { refuse } from '../http/refuse.ts';
import { wantsPage } from '../http/request-url.ts';
import { domainOfAddress } from '../names/read-name.ts';
import { isSsoRequired } from '../people/sign-in-policy.ts';
import { destinationOfForm, keptForm, leadsToRegistration } from '../sessions/destination.ts';
import { visitorOf } from '../sessions/visitor.ts';
import { letIn, refuseSignIn, toSingleSignOn } from './answer-sign-in.ts';
import { signIn } from './sign-in.ts';

export const performLoginSchema = { body: LoginForm };

/** `POST performlogin`: 303 to the destination, the second factor, or a failure page. */
export function performLoginRoute(deps: Deps) {
  const { config } = deps;

  return async function performLogin(request: FastifyRequest<{ Body: LoginForm }>, reply: FastifyReply) {
    if (request.validationError) {
      if (!wantsPage(request)) throw request.validationError;
      return await formWithError(request, reply);
    }
    const visitor = visitorOf(deps, request);
    const { username, password } = request.body;
    const { onwards } = destinationOfForm(config, request);
    const domain = domainOfAddress(username);
    // Before any user is looked up, so that every name of the domain gets the same answer.
    if (domain && (await isSsoRequired(deps.sql, domain)))
      return toSingleSignOn(reply, config, { notice: 'useSingleSignOn', username }, onwards);
    const setsUpApp = leadsToRegistration(config, onwards.destination);
    const result = await signIn(deps, { ...visitor, setsUpApp, username, password });
    switch (result.kind) {
      case 'throttled':
        return await refuse(deps, reply, 429, { ...result, form: keptForm(config, request.body) });
      case 'refused':
        return refuseSignIn(reply, config, { type: 'default', reference: result.reference, username }, onwards);
      case 'networkRefused':
        return refuseSignIn(reply, config, { type: 'ip', reference: result.reference, username }, onwards);
      case 'secondFactor':
      case 'signedIn':
        return await letIn(deps, reply, result, { ...onwards, username });
    }
  };

  /** The form again for an entry that is missing or too long. No user is looked up and nothing is counted. */
  async function formWithError(
    request: FastifyRequest<{ Body: Partial<LoginForm> | undefined }>,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const { username = '', password = '', redirectURL } = request.body ?? {};
    const { typedUsername, destination } = keptForm(config, { username, redirectURL });
    const notice = username === '' || password === '' ? 'entryMissing' : 'entryTooLong';
    return await formAgain(deps, reply, { screen: 'login', status: 400, notice, destination }, { typedUsername });
  }
}

/** Shows the form again when a sign-in, by password or passkey, could not be tried. */
export function signInFormAgain(deps: Deps): FormKeeper {
  return async (reply, wait) => {
    const form = keptForm(deps.config, (reply.request.body ?? {}) as Partial<LoginForm>);
    return await refuse(deps, reply, 503, { ...wait, form });
  };
}
