import type { FastifyReply, FastifyRequest } from 'fastify';
import { BackchannelLogoutForm } from '#contract/payloads.ts';
import type { Deps } from '../../deps/deps.ts';
import { refuse } from '../../http/refuse.ts';
import { limits } from '../../limits.ts';
import { tokenHash } from '../../secrets/token.ts';
import { insertOidcLogoutToken } from '../../storage/oidc-logout-token.ts';
import { insertProviderLogout } from '../../storage/provider-logout.ts';
import { deleteSessionsOfProvider } from '../../storage/provider-sessions.ts';
import { findSsoConnectionByKey, listSsoConnections, type OidcConnection } from '../../storage/sso-connection.ts';
import { countAttempt, findWait } from '../../storage/throttle.ts';
import { logoutTokenKeys } from '../../storage/throttle-keys.ts';
import { knownVisitorOf } from '../../visitor/visitor.ts';
import { type Refusal, refusalFor } from '../identity.ts';
import { recordEndedByProvider, recordLogoutRefusal } from '../provider-logout-events.ts';
import { type LogoutToken, readLogoutToken } from './logout-token.ts';

type LogoutRequest = FastifyRequest<{ Body: BackchannelLogoutForm; Params: { connection: string } }>;

export const backchannelLogoutSchema = { body: BackchannelLogoutForm };

/**
 * `POST authenticate/oidc/backchannel-logout/<connection>`: a provider's server reports that someone signed out there
 * (OpenID Connect Back-Channel Logout §2.5). The request has neither cookies nor an origin; the signature vouches for
 * it. Only failures slow an address down, and a token that is valid by the keys in memory is always accepted: providers
 * may share an address with each other and with attackers.
 */
export function backchannelLogoutRoute(deps: Deps) {
  return async function backchannelLogout(request: LogoutRequest, reply: FastifyReply) {
    const { sql, now } = deps;
    reply.header('cache-control', 'no-store');
    const visitor = await knownVisitorOf(deps, request, reply);
    if (!visitor) return reply;
    const { address } = visitor;
    const keys = logoutTokenKeys(address);
    const wait = (await findWait(sql, keys, now())).getTime() - now().getTime();
    const connection = await findSsoConnectionByKey(sql, request.params.connection);
    const refusal = await endSessions(deps, request, connection, { address, fromMemory: wait > 0 });
    if (!refusal) return reply.code(200).send();
    if (wait > 0) return await refuse(deps, request, reply, 429, { retryAfter: wait });
    await countAttempt(sql, keys, now());
    const told = { step: 'logout token', words: refusal.words };
    await recordLogoutRefusal(deps, request, told, { connection: connection?.key, address });
    const isAway = refusal.reason === 'provider-unreachable';
    // §2.8: the reason is for the sender's log; it reveals nothing about sessions.
    return reply
      .code(isAway ? 503 : 400)
      .type('application/json')
      .send({ error: isAway ? 'temporarily_unavailable' : 'invalid_request', error_description: refusal.words });
  };
}

/**
 * Ends what the token names, once; null when done, even if nothing had to end. Connections may share a client, for which
 * the provider has one address: the token counts for all of them.
 */
async function endSessions(
  deps: Deps,
  request: LogoutRequest,
  connection: Awaited<ReturnType<typeof findSsoConnectionByKey>>,
  { address, fromMemory }: { address: string; fromMemory: boolean },
): Promise<Refusal | null> {
  if (connection?.protocol !== 'oidc') return refusalFor('connection-broken', 'there is no such connection');
  const token = await readLogoutToken(deps, connection, request.body.logout_token, { fromMemory });
  if (token.kind === 'refused') return token;
  let isNew = false;
  for (const one of await sameClient(deps, connection)) {
    const ended = await endedBy(deps, one, token);
    if (ended === null) continue;
    isNew = true;
    await recordEndedByProvider(deps, request, ended, { connection: one.key, address });
  }
  return isNew ? null : refusalFor('answer-used', 'logout token: it was already used');
}

/** The connections with the same client of the same provider, this one among them. */
async function sameClient({ sql }: Deps, { settings }: OidcConnection): Promise<OidcConnection[]> {
  return (await listSsoConnections(sql)).filter(
    (one): one is OidcConnection =>
      one.protocol === 'oidc' && one.settings.issuer === settings.issuer && one.settings.clientId === settings.clientId,
  );
}

/** Whose sessions of one connection were ended, without duplicates; null if the token was used for it before. */
async function endedBy(
  { sql, now }: Deps,
  { id: connectionId }: OidcConnection,
  { subject, session, jti, issuedAt, endsAt }: LogoutToken,
): Promise<{ userId: string; username: string }[] | null> {
  return await sql.begin(async (transaction) => {
    if (!(await insertOidcLogoutToken(transaction, { connectionId, jtiHash: tokenHash(jti), endsAt }))) return null;
    const named = {
      connectionId,
      subjectHash: subject === null ? null : tokenHash(subject),
      sessionHashes: session === null ? [] : [tokenHash(session)],
    };
    const keptUntil = new Date(now().getTime() + limits.providerLogoutKept);
    await insertProviderLogout(transaction, { ...named, issuedAt, endsAt: keptUntil });
    return await deleteSessionsOfProvider(transaction, named);
  });
}
