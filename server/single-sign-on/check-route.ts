import type { FastifyReply, FastifyRequest } from 'fastify';
import { CheckSsoForm } from '#contract/payloads.ts';
import type { Deps } from '../deps.ts';
import type { FormKeeper } from '../http/form-again.ts';
import { refuse } from '../http/refuse.ts';
import { keptForm } from '../sessions/destination.ts';
import { rememberedConnection } from '../sessions/remembered-connection.ts';
import { toSingleSignOn } from '../sign-in/answer-sign-in.ts';
import { beginVisit, travellerOf } from './begin.ts';
import { findSsoConnection } from './sso-connection.ts';

export const checkSsoSchema = { body: CheckSsoForm };

/**
 * `POST authenticate/checkSsoLogin` (decisions §6): redirects to the provider of this browser's last sign-in, or to the
 * form that asks for an address.
 */
export function checkSsoRoute(deps: Deps) {
  return async function checkSso(request: FastifyRequest<{ Body: CheckSsoForm }>, reply: FastifyReply) {
    const { redirectURLSSO } = request.body;
    const traveller = await travellerOf(deps, request, reply, {
      redirectUrl: redirectURLSSO,
      giveAgain: (wait) => refuse(deps, request, reply, 429, { ...wait, form: keptButton(deps, request) }),
    });
    if (!traveller) return reply;
    const id = rememberedConnection(deps, request);
    const connection = id === null ? null : await findSsoConnection(deps.sql, id);
    if (!connection?.active) return toSingleSignOn(reply, deps.config, { username: null }, traveller);
    return await beginVisit(deps, request, reply, connection, { ...traveller, typed: null });
  };
}

/** How the button gets back, with the form beside it, while the database is down. */
export function checkSsoFormAgain(deps: Deps): FormKeeper {
  return (request, reply, wait) => refuse(deps, request, reply, 503, { ...wait, form: keptButton(deps, request) });
}

function keptButton(deps: Deps, request: FastifyRequest) {
  const { redirectURLSSO: redirectURL } = (request.body ?? {}) as CheckSsoForm;
  return keptForm(deps.config, { redirectURL });
}
