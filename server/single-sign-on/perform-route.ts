import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PerformSsoForm } from '#contract/payloads.ts';
import type { Deps } from '../deps.ts';
import { domainOfAddress } from '../sign-in/domain-of-address.ts';
import { toSingleSignOn } from '../sign-in/let-in.ts';
import { listSsoConnectionsOfDomain } from '../storage/sso-connection.ts';
import { depart, stay, travellerOf } from './depart.ts';

/**
 * `POST authenticate/performSsoLogin` (decisions §6): on to the provider of the domain of an address. Nobody is looked up,
 * so existing and unknown people are answered alike, and so are an unknown domain and one without single sign-on.
 */
export function performSsoRoute(deps: Deps) {
  return async function performSso(request: FastifyRequest<{ Body: PerformSsoForm }>, reply: FastifyReply) {
    const { username, redirectURL, connection: chosen } = request.body;
    const traveller = await travellerOf(deps, request, reply, redirectURL);
    if (!traveller) return reply;
    const typed = username.trim();
    const domain = domainOfAddress(typed);
    const connections = domain ? await listSsoConnectionsOfDomain(deps.sql, domain) : [];
    const usable = connections.filter(({ active }) => active);
    const connection = usable.find(({ key }) => key === chosen) ?? (usable.length === 1 ? usable[0] : undefined);
    if (connection) return await depart(deps, request, reply, connection, { ...traveller, typed });
    if (usable.length > 1)
      return toSingleSignOn(reply, deps.config, { notice: 'chooseConnection', username: typed }, traveller);
    const disabled = connections[0] ?? null;
    const refusal = disabled
      ? ({ reason: 'connection-disabled', words: 'it is switched off' } as const)
      : ({ reason: 'unknown-domain', words: 'no connection vouches for the domain of the address' } as const);
    return await stay(deps, request, reply, refusal, { ...traveller, connection: disabled, typed });
  };
}
