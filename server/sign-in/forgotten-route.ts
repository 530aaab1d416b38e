import type { FastifyReply, FastifyRequest } from 'fastify';
import { isEmailAddress } from '#contract/addresses.ts';
import type { Page } from '#contract/page.ts';
import { ForgottenForm } from '#contract/payloads.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import { insertEventOnceAMinute } from '../audit/audit-event.ts';
import type { Deps } from '../deps.ts';
import { formAgain, formKeeper } from '../http/form-again.ts';
import { refuse } from '../http/refuse.ts';
import { destinationOfAddress, languageOfRequest, languageOverride, wantsPage } from '../http/request-url.ts';
import { foldLoginName } from '../names/read-name.ts';
import { keptForm } from '../sessions/destination.ts';
import { visitorOf } from '../sessions/visitor.ts';
import { recordKey, resetKeys } from '../throttle/throttle-keys.ts';
import { insertResetRequest } from './reset-request.ts';

export const forgottenSchema = { body: ForgottenForm };

/**
 * `POST password/forgotten`: keeps the request and answers 204, or 303 without JavaScript, before the
 * name is looked up. Nothing here depends on the name.
 */
export function forgottenRoute(deps: Deps) {
  return async function forgotten(request: FastifyRequest<{ Body: ForgottenForm }>, reply: FastifyReply) {
    const destination = destinationOfAddress(request, deps.config);
    const isPage = wantsPage(request);
    const isReadable = request.validationError === undefined && isEmailAddress(request.body.username);
    if (!isReadable && isPage) {
      const again = { screen: 'forgotten', status: 400, notice: 'emailMalformed', destination } as const;
      return await formAgain(deps, request, reply, again, keptOf(deps, request.body));
    }
    if (request.validationError) throw request.validationError;
    const visitor = visitorOf(deps, request);
    if (!isReadable) {
      const problem = { detail: 'username must be an email address', field: 'username' };
      return await refuse(deps, request, reply, 400, problem);
    }
    const { address } = visitor;
    const now = deps.now();
    const asked = {
      fold: foldLoginName(request.body.username),
      language: languageOfRequest(request),
      address,
      requestId: request.id,
      destination: destination ?? null,
    };
    const until = await insertResetRequest(deps.sql, asked, resetKeys(address), now);
    if (until) {
      const event = {
        event: 'password-forgotten',
        reason: 'throttled-address',
        address,
        requestId: request.id,
      } as const;
      const reference = await insertEventOnceAMinute(deps.sql, event, recordKey('reset-throttled', address), now);
      const retryAfter = until.getTime() - now.getTime();
      if (!isPage) return await refuse(deps, request, reply, 429, { retryAfter });
      const again = { screen: 'forgotten', status: 429, notice: 'tooManyAttempts', destination } as const;
      return await formAgain(deps, request, reply, { ...again, retryAfter, reference }, keptOf(deps, request.body));
    }
    reply.raw.once('finish', deps.wake.resetRequests);
    if (!isPage) return reply.code(204).send();
    const query = { [queryNames.destination]: destination, [queryNames.language]: languageOverride(request) };
    return reply.redirect(screenUrl(deps.config.basePath, 'emailInfo', query), 303);
  };
}

export function forgottenFormAgain(deps: Deps) {
  return formKeeper(deps, 'forgotten', (form, request) => ({
    destination: destinationOfAddress(request, deps.config),
    page: keptOf(deps, form),
  }));
}

function keptOf({ config }: Deps, form: Partial<ForgottenForm> | undefined): Partial<Page> {
  return { typedUsername: keptForm(config, { username: form?.username ?? '' }).typedUsername };
}
