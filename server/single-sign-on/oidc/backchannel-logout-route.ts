import type { FastifyReply, FastifyRequest } from 'fastify';
import { BackchannelLogoutForm } from '#contract/payloads.ts';
import type { Deps } from '../../deps.ts';
import { knownVisitorOf } from '../../sessions/visitor.ts';
import { refusalFor } from '../identity.ts';
import { endSessionsByProvider, recordLogoutRefusal } from '../provider-logout.ts';
import { slowDownForLogout } from '../slow-down.ts';
import { findSsoConnectionByKey, listSsoConnections, type OidcConnection } from '../sso-connection.ts';
import { readLogoutToken } from './logout-token.ts';

type LogoutRequest = FastifyRequest<{ Body: BackchannelLogoutForm; Params: { connection: string } }>;

export const backchannelLogoutSchema = { body: BackchannelLogoutForm };

/**
 * `POST authenticate/oidc/backchannel-logout/<connection>`: a provider's server reports that someone signed out there
 * (OpenID Connect Back-Channel Logout §2.5). The request has neither cookies nor an origin; the signature vouches for
 * it. Only failures slow an address down, which providers may share with each other and with attackers.
 */
export function backchannelLogoutRoute(deps: Deps) {
  return async function backchannelLogout(request: LogoutRequest, reply: FastifyReply) {
    reply.header('cache-control', 'no-store');
    const visitor = await knownVisitorOf(deps, request, reply);
    if (!visitor) return reply;
    const { address } = visitor;
    const connection = await findSsoConnectionByKey(deps.sql, request.params.connection);
    const token =
      connection?.protocol === 'oidc'
        ? await readLogoutToken(deps, connection, request.body.logout_token)
        : refusalFor('connection-broken', 'there is no such connection');
    if (token.kind === 'ok') {
      const connections = await sameClient(deps, connection as OidcConnection);
      await endSessionsByProvider(deps, request, token, { connections, address });
      return reply.code(200).send();
    }
    if (await slowDownForLogout(deps, request, reply, address)) return reply;
    const told = { step: 'logout token', words: token.words };
    await recordLogoutRefusal(deps, request, told, { connection: connection?.key, address });
    const isAway = token.reason === 'provider-unreachable';
    // §2.8: the reason is for the sender's log; it reveals nothing about sessions.
    return reply
      .code(isAway ? 503 : 400)
      .type('application/json')
      .send({ error: isAway ? 'temporarily_unavailable' : 'invalid_request', error_description: token.words });
  };
}

/** The connections with the same client of the same provider, for which that one has a single address. */
async function sameClient({ sql }: Deps, { settings }: OidcConnection): Promise<OidcConnection[]> {
  return (await listSsoConnections(sql)).filter(
    (one): one is OidcConnection =>
      one.protocol === 'oidc' && one.settings.issuer === settings.issuer && one.settings.clientId === settings.clientId,
  );
}
