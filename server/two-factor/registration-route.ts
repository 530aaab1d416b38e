import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps/deps.ts';
import { refuseForeignSite } from '../http/guards.ts';
import { sendProblem } from '../http/refuse.ts';
import { visitorOf } from '../visitor/visitor.ts';
import { openRegistration } from './registration.ts';

/**
 * `GET two-factor-authentication/registration` (decisions §6): what an authenticator app needs. It creates a secret, so
 * other sites may not request it, although it is a GET.
 */
export function registrationRoute(deps: Deps) {
  return async function registration(request: FastifyRequest, reply: FastifyReply) {
    const site = request.headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin' && site !== 'none')
      return await refuseForeignSite(deps, request, reply);
    const result = await openRegistration(deps, reply, visitorOf(deps, request));
    switch (result.kind) {
      case 'signedOut':
        return sendProblem(reply, 401);
      case 'refused':
        return sendProblem(reply, 409, { detail: 'This sign-in has nothing to register.' });
      case 'signInAgain':
        return sendProblem(reply, 409, { detail: 'The sign-in is too old for that.' });
      case 'byPasskey':
        return sendProblem(reply, 409, { detail: 'This account has a passkey: sign in with it.' });
      case 'network':
      case 'notFromProvider':
        return sendProblem(reply, 409, { detail: 'This sign-in covers only a part of the account.' });
      case 'open':
        return reply.send(result.answer);
    }
  };
}
