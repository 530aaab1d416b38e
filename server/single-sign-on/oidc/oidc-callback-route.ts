import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../../deps.ts';
import { splitUrl } from '../../http/request-url.ts';
import type { OidcConnection } from '../../storage/sso-connection.ts';
import { publicAddress } from '../addresses.ts';
import { arrive } from '../arrive.ts';
import type { OidcKept } from '../request-details.ts';
import { readOidcAnswer } from './oidc.ts';

/**
 * `GET authenticate/oidc/callback/<connection>`: where OpenID providers send their answers (OpenID Connect Core
 * §3.1.2.5). Without a connection it is the shared address, for connections that still use it.
 */
export function oidcCallbackRoute(deps: Deps) {
  return async function oidcCallback(
    request: FastifyRequest<{ Params: { connection?: string } }>,
    reply: FastifyReply,
  ) {
    // From the configuration: the request's Host must not be compared with an answer.
    const { connection: key } = request.params;
    const path = key === undefined ? '' : `/${encodeURIComponent(key)}`;
    const url = new URL(publicAddress(deps.config, 'oidcCallback') + path + splitUrl(request.url).search);
    const states = url.searchParams.getAll('state');
    const state = states.length === 1 ? (states[0] as string) : null;
    return await arrive(deps, request, reply, 'oidc', { state }, ({ details, connection }) =>
      readOidcAnswer(deps, connection as OidcConnection, {
        url,
        state: state as string,
        kept: details.kept as OidcKept,
      }),
    );
  };
}
