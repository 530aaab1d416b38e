import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  AuthorizationResponseError,
  authorizationCodeGrant,
  ClientError,
  type Configuration,
  fetchUserInfo,
  type IDToken,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import type { Deps } from '../../deps.ts';
import { ProviderFailure } from '../../http/provider-fetch.ts';
import { splitUrl } from '../../http/request-url.ts';
import { redirectUri } from '../addresses.ts';
import { claimVisit, type OidcKept } from '../claim-visit.ts';
import { finishVisit } from '../finish-visit.ts';
import {
  type Identity,
  type ProviderAnswer,
  providerWords,
  type Refusal,
  refusalFor,
  refusalOf,
} from '../provider-answer.ts';
import { differentTexts, isSubject, providerText, readProviderValues, userFrom } from '../provider-values.ts';
import type { Attributes, OidcConnection } from '../sso-connection.ts';
import { acceptedAlgorithms, oidcProvider } from './provider.ts';

/**
 * `GET authenticate/oidc/callback/<connection>`: where OpenID providers send their answers (OpenID Connect Core
 * §3.1.2.5). The visit is claimed first, and only then the code is redeemed.
 */
export function oidcCallbackRoute(deps: Deps) {
  return async function oidcCallback(request: FastifyRequest<{ Params: { connection: string } }>, reply: FastifyReply) {
    // From the configuration: the request's Host must not be compared with an answer.
    const key = encodeURIComponent(request.params.connection);
    const url = new URL(redirectUri(deps.config, { key }) + splitUrl(request.url).search);
    const [state = null, another] = url.searchParams.getAll('state');
    const claimed = await claimVisit(deps, reply, another === undefined ? state : null, 'oidc');
    if (!claimed) return reply;
    const kept = claimed.details.kept as OidcKept;
    const answer = await readOidcAnswer(deps, claimed.connection, { url, state: String(state), kept });
    return await finishVisit(deps, reply, claimed, answer);
  };
}

/** What a visitor came back with: the full address, and what was kept of the departure. */
type Callback = { url: URL; state: string; kept: OidcKept };

/** Reads the address that the provider redirected the visitor to. */
export async function readOidcAnswer(
  deps: Deps,
  connection: OidcConnection,
  callback: Callback,
): Promise<ProviderAnswer> {
  const { pathname, origin } = callback.url;
  const { redirectUri: expected } = callback.kept;
  // A provider could redirect a visitor to another connection's address, to get the code of that connection's provider
  // (RFC 9700 §4.4).
  if (origin + pathname !== expected)
    return refusalFor(
      'answer-invalid',
      providerWords(`the answer came to ${pathname}, and is expected at ${expected}`),
    );
  const provider = await oidcProvider(deps, connection);
  if (provider.kind === 'refused') return provider;
  try {
    return await redeem(provider.client, connection, callback);
  } catch (error) {
    return oidcRefusal(error);
  }
}

/**
 * Redeems the code at the token endpoint. The library verifies the address, the ID token and its signature (OpenID Connect
 * Core §3.1.3.7), but for these two.
 */
async function redeem(
  client: Configuration,
  { settings, attributes }: OidcConnection,
  { url, state, kept }: Callback,
): Promise<ProviderAnswer> {
  const tokens = await authorizationCodeGrant(client, url, {
    expectedState: state,
    expectedNonce: kept.nonce,
    pkceCodeVerifier: kept.verifier,
    idTokenExpected: true,
  });
  const claims = tokens.claims() as IDToken;
  if (claims.azp !== undefined && claims.azp !== settings.clientId)
    return refusalFor('answer-invalid', 'ID token: azp is not our client id');
  if (!isSubject(claims.sub)) return refusalFor('answer-invalid', 'ID token: sub is not 1 to 255 visible characters');
  const told = readProviderValues(Object.entries(claims));
  const isAllHere = Object.values({ email: 'email', ...attributes }).every((name) => told.has(name));
  const isElsewhere = !isAllHere && client.serverMetadata().userinfo_endpoint;
  const userInfo = isElsewhere ? await fetchUserInfo(client, tokens.access_token, claims.sub) : {};
  return { kind: 'ok', identity: oidcIdentity({ idToken: tokens.id_token as string, claims, userInfo }, attributes) };
}

type Claims = Record<string, unknown>;

/**
 * What the claims say of a person. The ID token comes first; an address and whether it is verified come from the same
 * place. `email_verified` refers to the claim `email` (OpenID Connect Core §5.1): nothing vouches for another one.
 */
function oidcIdentity(
  { idToken, claims, userInfo }: { idToken: string; claims: IDToken; userInfo: Claims },
  attributes: Attributes,
): Identity {
  const name = attributes.email ?? 'email';
  const told = readProviderValues(Object.entries(claims));
  const values = new Map([...readProviderValues(Object.entries(userInfo)), ...told]);
  const { email_verified: verified }: Claims = told.has(name) ? claims : userInfo;
  const session = providerText(claims.sid);
  return {
    ...(session !== null && { session }),
    subject: claims.sub,
    sent: [...values.keys()],
    emails: differentTexts(values.get(name) ?? []),
    emailVerified: name === 'email' && (verified === true || verified === 'true'),
    ...userFrom(values, { language: 'locale', ...attributes }),
    authenticationContexts: ['acr', 'amr'].flatMap((one) => told.get(one) ?? []),
    authenticatedAt: Number.isSafeInteger(claims.auth_time) ? (claims.auth_time as number) * 1000 : null,
    // OpenID Connect does not report it.
    sessionEndsAt: null,
    idToken,
  };
}

/** Why the library rejected an answer. Every error refuses the sign-in, whatever it is. */
export function oidcRefusal(error: unknown): Refusal {
  const cause = error instanceof Error ? error.cause : undefined;
  const failure = [error, cause].find((one) => one instanceof ProviderFailure);
  if (failure) return refusalOf(failure);
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError)
    return refusalByCode(error.error, error.error_description);
  if (error instanceof WWWAuthenticateChallengeError) {
    const { error: code = `status ${error.status}`, error_description } = error.cause[0]?.parameters ?? {};
    return refusalFor('connection-broken', `${isUnknown}: ${said(code, error_description)}`);
  }
  // Not an endpoint's answer: an invalid status, or not JSON.
  if (error instanceof ClientError && cause instanceof Response)
    return refusalFor('provider-unreachable', `the provider answers ${cause.status}: ${error.message}`);
  const words = [messageOf(error), messageOf(cause)].filter(Boolean).join(': ');
  return refusalFor('answer-invalid', /"alg"/.test(words) ? `${words}; ${acceptedAlgorithms}` : words);
}

/** A provider that does not know us does not say which is wrong. */
const isUnknown = 'the provider does not accept the portal, by client id or secret (or key)';

/** An error in the answer, or of the token endpoint (RFC 6749 §4.1.2.1 and §5.2, OpenID Connect Core §3.1.2.6). */
function refusalByCode(error: string, description: string | undefined): Refusal {
  const words = said(error, description);
  switch (error) {
    case 'invalid_grant':
      return refusalFor('answer-invalid', `the provider does not accept the code: ${words}`);
    case 'invalid_client':
      return refusalFor('connection-broken', `${isUnknown}: ${words}`);
    case 'server_error':
    case 'temporarily_unavailable':
      return refusalFor('provider-unreachable', `the provider answers: ${words}`);
    case 'invalid_request':
    case 'invalid_scope':
    case 'unauthorized_client':
    case 'unsupported_grant_type':
    case 'unsupported_response_type':
      return refusalFor('connection-broken', `the provider answers: ${words}`);
    default:
      return refusalFor('provider-refused', words);
  }
}

function said(error: string, description: string | undefined): string {
  return providerWords(description ? `${error} (${description})` : error);
}

function messageOf(error: unknown): string {
  return error instanceof Error || error instanceof DOMException ? providerWords(error.message) : '';
}
