import type { FastifyReply, FastifyRequest } from 'fastify';
import { isEmailAddress } from '#contract/email-address.ts';
import type { Notice } from '#contract/notices.ts';
import { PerformSsoForm } from '#contract/payloads.ts';
import type { Deps } from '../deps.ts';
import { type FormKeeper, formAgain } from '../http/form-again.ts';
import { wantsPage } from '../http/request-url.ts';
import { domainOfAddress } from '../names/read-name.ts';
import { destinationToKeep, keptForm } from '../sessions/destination.ts';
import { toSingleSignOn } from '../sign-in/answer-sign-in.ts';
import { beginVisit, cannotBegin, travellerOf } from './begin.ts';
import { refusalFor } from './identity.ts';
import { listSsoConnectionsOfDomain } from './sso-connection.ts';

export const performSsoSchema = { body: PerformSsoForm };

/**
 * `POST authenticate/performSsoLogin` (decisions §6): redirects to the provider of an address's domain. No user is
 * looked up, so known and unknown people get the same answer, as do an unknown domain and one without single sign-on.
 */
export function performSsoRoute(deps: Deps) {
  return async function performSso(request: FastifyRequest<{ Body: PerformSsoForm }>, reply: FastifyReply) {
    if (request.validationError && !wantsPage(request)) throw request.validationError;
    const { username, redirectURL, connection: chosen }: Partial<PerformSsoForm> = request.body ?? {};
    const traveller = await travellerOf(deps, request, reply, {
      redirectUrl: redirectURL,
      giveAgain: (wait) => giveAgain(deps, request, reply, { status: 429, notice: 'tooManyAttempts', ...wait }),
    });
    if (!traveller) return reply;
    const typed = username?.trim() ?? '';
    const { typedUsername } = keptForm(deps.config, { username: typed });
    if (request.validationError || (!isEmailAddress(typed) && wantsPage(request))) {
      const destination = destinationToKeep(deps.config.basePath, traveller.destination);
      const again = { screen: 'singleSignOn', status: 400, notice: 'emailMalformed', destination } as const;
      return await formAgain(deps, request, reply, again, { typedUsername });
    }
    const domain = domainOfAddress(typed);
    const connections = domain ? await listSsoConnectionsOfDomain(deps.sql, domain) : [];
    const usable = connections.filter(({ active }) => active);
    const connection = usable.find(({ key }) => key === chosen) ?? (usable.length === 1 ? usable[0] : undefined);
    if (connection) return await beginVisit(deps, request, reply, connection, { ...traveller, typed: typedUsername });
    if (usable.length > 1)
      return toSingleSignOn(reply, deps.config, { notice: 'chooseConnection', username: typedUsername }, traveller);
    const disabled = connections[0] ?? null;
    const refusal = disabled
      ? refusalFor('connection-disabled', 'it is disabled')
      : refusalFor('unknown-domain', 'no connection vouches for the domain of the address');
    return await cannotBegin(deps, request, reply, refusal, {
      ...traveller,
      connection: disabled,
      typed: typedUsername,
    });
  };
}

/** How the form gets back while the database is down. */
export function performSsoFormAgain(deps: Deps): FormKeeper {
  return (request, reply, wait) => giveAgain(deps, request, reply, { status: 503, notice: 'unavailable', ...wait });
}

async function giveAgain(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  why: { status: 429 | 503; notice: Notice; retryAfter: number; reference?: string },
): Promise<FastifyReply> {
  const { destination, ...page } = keptForm(deps.config, (request.body ?? {}) as Partial<PerformSsoForm>);
  return await formAgain(deps, request, reply, { screen: 'singleSignOn', ...why, destination }, page);
}
