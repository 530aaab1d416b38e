import type { FastifyReply, FastifyRequest } from 'fastify';
import { decodeProtectedHeader, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { BackchannelLogoutForm } from '#contract/payloads.ts';
import type { Deps } from '../../deps.ts';
import { ProviderFailure } from '../../http/provider-fetch.ts';
import { limits } from '../../limits.ts';
import { slowDown } from '../fail.ts';
import { providerWords, type Refusal, refusalFor, refusalOf } from '../provider-answer.ts';
import { endSessionsByProvider, type ProviderLogout, recordLogoutRefusal } from '../provider-sessions.ts';
import { findSsoConnectionByKey, listSsoConnections, type OidcConnection } from '../sso-connection.ts';
import { idTokenAlgorithms, oidcProvider } from './provider.ts';

type LogoutRequest = FastifyRequest<{ Body: BackchannelLogoutForm; Params: { connection: string } }>;

/**
 * `POST authenticate/oidc/backchannel-logout/<connection>`: a provider's server reports that someone signed out there
 * (OpenID Connect Back-Channel Logout §2.5). The request has neither cookies nor an origin; the signature vouches for
 * it. Only failures slow an address down, which providers may share with each other and with attackers.
 */
export function backchannelLogoutRoute(deps: Deps) {
  return async function backchannelLogout(request: LogoutRequest, reply: FastifyReply) {
    reply.header('cache-control', 'no-store');
    const connection = await findSsoConnectionByKey(deps.sql, request.params.connection);
    const token =
      connection?.protocol === 'oidc'
        ? await readLogoutToken(deps, connection, request.body.logout_token)
        : refusalFor('connection-broken', 'there is no such connection');
    if (token.kind === 'ok') {
      await endSessionsByProvider(deps, request, token, await sameClient(deps, connection as OidcConnection));
      return reply.code(200).send();
    }
    if (await slowDown(deps, reply, 'refused logouts')) return reply;
    await recordLogoutRefusal(deps, request, { step: 'logout token', outcome: token.words }, connection?.key);
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

/** The event that a logout token must contain (Back-Channel Logout §2.4). */
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';

/**
 * Reads a logout token with the checks of OpenID Connect Back-Channel Logout §2.6. It need not be remembered: shown
 * again within its few minutes, it ends no session that was made after it.
 */
async function readLogoutToken(
  deps: Deps,
  connection: OidcConnection,
  token: string,
): Promise<({ kind: 'ok' } & ProviderLogout) | Refusal> {
  const provider = await oidcProvider(deps, connection);
  if (provider.kind === 'refused') return provider;
  try {
    const payload = await verifiedPayload(deps, connection, token, provider.keys);
    const wrong = wrongInLogoutToken(payload);
    if (wrong !== null) return invalid(wrong);
    const { sub = null, sid, iat } = payload as { sub?: string; sid?: string; iat: number };
    return { kind: 'ok', subject: sub, sessions: sid === undefined ? [] : [sid], issuedAt: new Date(iat * 1000) };
  } catch (error) {
    if (error instanceof ProviderFailure) return refusalOf(error);
    if (error instanceof errors.JOSEError || error instanceof TypeError) return invalid(error.message);
    throw error;
  }
}

/** The claims, once signature, issuer, audience and times are verified: as for an ID token, and by our clock. */
async function verifiedPayload(
  { now }: Deps,
  { settings }: OidcConnection,
  token: string,
  keys: JWTVerifyGetKey,
): Promise<JWTPayload> {
  const { typ } = decodeProtectedHeader(token);
  // An explicit other type is not a logout token (RFC 8725 §3.11); older providers send JWT or nothing.
  if (typ !== undefined && !/^(?:application\/)?(?:logout\+jwt|jwt)$/i.test(typ))
    throw new errors.JOSEError(`its typ is ${providerWords(typ)}`);
  const { payload } = await jwtVerify(token, keys, {
    issuer: settings.issuer,
    audience: settings.clientId,
    algorithms: [...idTokenAlgorithms],
    clockTolerance: limits.providerClock / 1000,
    maxTokenAge: limits.logoutTokenAge / 1000,
    currentDate: now(),
    requiredClaims: ['iat', 'exp', 'jti', 'events'],
  });
  return payload;
}

/** What is wrong with the claims specific to logout tokens, or null. */
function wrongInLogoutToken({ nonce, events, sub, sid }: JWTPayload): string | null {
  if (nonce !== undefined) return 'it has a nonce, as ID tokens do';
  if (!isObject(events) || !isObject(events[logoutEvent])) return 'events does not contain a logout';
  const named = [sub, sid].filter((one) => one !== undefined);
  return named.length > 0 && named.every((one) => typeof one === 'string' && one !== '')
    ? null
    : 'it has no sub or sid that is text';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(words: string): Refusal {
  return refusalFor('answer-invalid', `logout token: ${providerWords(words)}`);
}
